package import Foundation
package import ProviderKit

/// The client of a request, as the list of sessions shows it.
package struct Client: Sendable, Equatable {
    package var device: String?
    /// The IP address, as trusted proxies report it.
    package var address: String
    /// The path of the endpoint that the client called, with its placeholders.
    package var route = ""
    /// The beginning of `Accept-Language` (RFC 9110, 12.5.4).
    package let languages: String?
    /// The connection, for calls with expensive work that a disconnect makes unnecessary.
    package var connection: ClientConnection?

    /// Ignores `languages` with characters that the header does not allow: only visible ASCII and spaces are.
    package init(device: String?, address: String, languages: String? = nil) {
        self.device = device
        self.address = address
        let isPlausible = languages?.utf8.allSatisfy { (0x20...0x7E).contains($0) } == true
        self.languages = isPlausible ? languages.map { String($0.prefix(Self.longestLanguages)) } : nil
    }

    /// In bytes.
    private static let longestLanguages = 200

    /// The key of rate limits and hashing turns: the IPv4 address, or the IPv6 network of a subscriber.
    package var network: String { IPAddress(address)?.subscriber ?? address }

    /// The block that contains the network: its holder can use many networks.
    package var block: String { IPAddress(address)?.block ?? address }
}

/// A session to be opened by a piece of evidence.
///
/// Its id and refresh token are drawn beforehand, so that one statement writes it.
package struct NewSession: Sendable {
    package let id = UUID.v7()
    package let application: Application
    /// The configured name of the provider that verified the evidence.
    package let provider: String
    package let evidence: VerifiedIdentity
    package let client: Client
    package let refreshToken: OpaqueToken
    /// The caller's session if the caller re-authenticates: this session may finish what that one began.
    package var resumes: UUID?
    /// The session that this one replaces after a merge or a cancelled deletion ended it.
    package var continues: UUID?
    /// Whether the evidence is a proof of the identity; otherwise opening the session does not count as a use of it.
    package var provesIdentity = true
    /// When the person authenticated at the provider; `nil` for now.
    package var authenticatedAt: Date?
    /// The password that a restored account gets; set by a password reset.
    var newPassword: PasswordHash?

    package init(
        by evidence: VerifiedIdentity, of provider: String, from client: Client, in application: Application,
        refreshToken: OpaqueToken
    ) {
        self.application = application
        self.provider = provider
        self.evidence = evidence
        self.client = client
        self.refreshToken = refreshToken
    }
}

/// A live session, with what its tokens contain.
package struct SessionGrant: Sendable {
    package var sessionID: UUID
    package var uid: UUID
    package var authenticatedAt: Date
    /// No token of the session is valid longer.
    package var expiresAt: Date
    /// How often the session was renewed; each renewal invalidates its older tokens.
    package var generation: Int32
    package var methods: [String]
    package var provider: String
    package var providerUid: String
    /// The account's first verified addresses.
    package var email: String?
    package var phone: String?
    /// The profile that the identity's provider last reported.
    package var profile: [String: JSONValue]

    package init(
        sessionID: UUID, uid: UUID, authenticatedAt: Date, expiresAt: Date, generation: Int32 = 0, methods: [String],
        provider: String, providerUid: String, email: String?, phone: String?, profile: [String: JSONValue] = [:]
    ) {
        self.sessionID = sessionID
        self.uid = uid
        self.authenticatedAt = authenticatedAt
        self.expiresAt = expiresAt
        self.generation = generation
        self.methods = methods
        self.provider = provider
        self.providerUid = providerUid
        self.email = email
        self.phone = phone
        self.profile = profile
    }
}

/// A session that was just opened, with what the response to a sign-in shows.
package struct OpenedSession: Sendable {
    package var grant: SessionGrant
    package var user: User
    package var identityID: UUID
    package var identityCreatedAt: Date
    package var identityDisplayName: String?
    package var isNewAccount: Bool
    /// Whether an admin requires a new password.
    package var shouldChangePassword: Bool

    package init(
        grant: SessionGrant, user: User, identityID: UUID, identityCreatedAt: Date, identityDisplayName: String?,
        isNewAccount: Bool, shouldChangePassword: Bool
    ) {
        self.grant = grant
        self.user = user
        self.identityID = identityID
        self.identityCreatedAt = identityCreatedAt
        self.identityDisplayName = identityDisplayName
        self.isNewAccount = isNewAccount
        self.shouldChangePassword = shouldChangePassword
    }
}

/// A session in the list of its owner.
package struct ListedSession: Sendable, Equatable {
    package var id: UUID
    package var device: String?
    package var address: String?
    package var createdAt: Date
    package var lastSeenAt: Date

    package init(id: UUID, device: String?, address: String?, createdAt: Date, lastSeenAt: Date) {
        self.id = id
        self.device = device
        self.address = address
        self.createdAt = createdAt
        self.lastSeenAt = lastSeenAt
    }
}

/// Why a session ended; stored with the session and in the audit.
package enum SessionEnd: String, Sendable {
    case logout, revoked, refreshReused, passwordReset, passwordChanged, accountDeleted, accountDisabled
    case codeReplayed, consentRevoked, identityRemoved, addressProvenByAnother
    case guestUpgraded, guestSwitched, merged, mergeUndone, numberRecycled
}
