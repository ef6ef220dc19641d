public import Foundation

extension GatehouseClient {
    /// A way in which the person can sign in to the account.
    public struct Identity: Sendable, Hashable, Codable, Identifiable {
        /// The identity's id, which a change of its address keeps.
        public let id: String
        /// The provider's name.
        public let provider: String
        /// The identity's id at the provider.
        public let providerUid: String
        /// The e-mail address.
        public let email: String?
        /// Whether the address is verified.
        public let emailVerified: Bool
        /// The phone number (E.164).
        public let phone: String?
        /// The name at the provider.
        public let displayName: String?
        /// When the identity was created.
        public let createdAt: Date
        /// When it last signed in.
        public let lastUsedAt: Date?
        /// Whether it opened this session.
        public let current: Bool
    }

    /// What happens to a guest's account if the identity to link belongs to another account.
    public enum ConflictChoice: String, Sendable {
        /// Nothing: the call is refused with `IDENTITY_IN_USE`.
        case keep
        /// The other account is signed in, and the guest's is erased.
        case `switch`
        /// The other account is signed in, and the guest's becomes part of it.
        case merge
    }

    /// The result of a link.
    public enum Linked: Sendable {
        /// The identity belongs to the account; the session is of it.
        case linked(SignedIn)
        /// A link was mailed to the address; `verifyEmail(token:linking:)` adds it to the account.
        case mailed(email: String)
    }

    /// The result of an unlink.
    public enum Unlinked: Sendable {
        /// The identity is gone.
        case unlinked
        /// It was the last one, so the account is being deleted.
        case accountDeleted(receipt: Receipt?)
    }
}
