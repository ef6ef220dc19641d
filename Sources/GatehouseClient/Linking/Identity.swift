public import Foundation

extension GatehouseClient {
    /// A way to sign in to the account, such as an e-mail address or an Apple account.
    public struct Identity: Sendable, Hashable, Codable, Identifiable {
        /// The identity's id, which stays the same when its address changes.
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
        /// Whether this identity opened the client's session.
        public let current: Bool
    }

    /// What happens to a guest's account if the identity to link belongs to another account.
    public enum ConflictChoice: String, Sendable {
        /// Nothing: the call is refused with `IDENTITY_IN_USE`.
        case keep
        /// The other account is signed in, and the guest's account is erased.
        case `switch`
        /// The guest's account is merged into the other account, which is signed in.
        case merge
    }

    /// The result of a link.
    public enum Linked: Sendable {
        /// The identity was added to the account; the value has the present session.
        case linked(SignedIn)
        /// A link was mailed to the address; `verifyEmail` with `linking: true` then adds the address to the account.
        case mailed(email: String)
    }

    /// The result of an unlink.
    public enum Unlinked: Sendable {
        /// The identity was removed.
        case unlinked
        /// It was the last one, so the account is being deleted.
        case accountDeleted(receipt: Receipt?)
    }
}
