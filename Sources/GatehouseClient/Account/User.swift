public import Foundation

extension GatehouseClient {
    /// An account.
    public struct User: Sendable, Hashable, Codable {
        /// The account's id (`uid`), which never changes.
        public let id: String
        /// The first verified e-mail address.
        public let email: String?
        /// Whether the account has a verified e-mail address.
        public let emailVerified: Bool
        /// The first verified phone number (E.164).
        public let phone: String?
        /// Whether the account has a verified phone number.
        public let phoneVerified: Bool
        /// The name to show.
        public let displayName: String?
        /// Whether the account is a guest's, which has no identity to sign in with again.
        public let isAnonymous: Bool
        /// The names of the providers of the account's identities.
        public let authProviders: [String]
        /// The app's own data of the account; see `updateUser`.
        public let metadata: [String: JSON]
        /// When the account was created.
        public let createdAt: Date
        /// When the account was last changed.
        public let updatedAt: Date
    }

    /// The identity that opened the session.
    public struct Auth: Sendable, Hashable {
        /// The account's id.
        public let uid: String
        /// The provider's name.
        public let provider: String
        /// The identity's id at the provider.
        public let providerUid: String
        /// When the identity, not the account, was created.
        public let createdAt: Date
        /// When the access token of the sign-in expires, by the server's clock.
        public let expires: Date
        /// When the session expires, by the server's clock; `nil` if the server does not send it.
        public let sessionExpires: Date?
        /// The name to show.
        public let displayName: String?
        /// The e-mail address, if it is known.
        public let email: String?
        /// The phone number, if it is known.
        public let phone: String?
        /// All members as the server sent them, with the claims that the application exposes.
        public let members: [String: JSON]
    }
}

extension GatehouseClient.Auth: Codable {
    /// Decodes the members of `auth`.
    /// - Throws: `DecodingError` if a required member is missing.
    public init(from decoder: any Decoder) throws {
        let members = try [String: GatehouseClient.JSON](from: decoder)
        func required<Value>(_ name: String, _ read: (GatehouseClient.JSON) -> Value?) throws -> Value {
            if let value = members[name].flatMap(read) { return value }
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "\(name) is missing")
            throw DecodingError.dataCorrupted(context)
        }
        uid = try required("uid", \.string)
        provider = try required("provider", \.string)
        providerUid = try required("providerUid", \.string)
        createdAt = try required("createdAt", \.time)
        expires = try required("expires", \.time)
        sessionExpires = members["sessionExpires"]?.time
        displayName = members["displayName"]?.string
        email = members["email"]?.string
        phone = members["phone"]?.string
        self.members = members
    }

    /// Encodes the members as they were decoded.
    /// - Throws: An error of the encoder.
    public func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}

extension GatehouseClient.JSON {
    /// Seconds since the epoch.
    var time: Date? { number.map { Date(timeIntervalSince1970: $0) } }
}
