package import Foundation
package import ProviderKit

/// Where a request comes from, as the person will read it in the list of their sessions.
package struct Client: Sendable, Equatable {
    package var device: String?
    /// The address behind trusted proxies.
    package var address: String
    /// The path of the endpoint that the client called, with its placeholders.
    package var route = ""
    /// What `Accept-Language` says (RFC 9110, 12.5.4), cut short.
    package let languages: String?
    /// Set where something long may be done for the client.
    package var connection: ClientConnection?

    /// `languages` are dropped where they can't be what the header may hold, which is visible ASCII and spaces.
    package init(device: String?, address: String, languages: String? = nil) {
        self.device = device
        self.address = address
        let isPlausible = languages?.utf8.allSatisfy { (0x20...0x7E).contains($0) } == true
        self.languages = isPlausible ? languages.map { String($0.prefix(Self.longestLanguages)) } : nil
    }

    /// In bytes.
    private static let longestLanguages = 200

    /// The address, with IPv6 what one subscriber has: what limits and turns go by.
    package var network: String { IPAddress(address)?.subscriber ?? address }

    /// What that is a part of, and whoever has it can pose as many networks.
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

/// A live session as tokens are made from it.
package struct SessionGrant: Sendable {
    package var sessionID: UUID
    package var uid: UUID
    package var authenticatedAt: Date
    /// No token of the session may outlive it.
    package var expiresAt: Date
    /// How often the session has been renewed, each time making its older tokens invalid.
    package var generation: Int32
    package var methods: [String]
    package var provider: String
    package var providerUid: String
    /// The account's first verified addresses.
    package var email: String?
    package var phone: String?
    /// The identity's, as its provider last told it.
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

/// A session that was just opened, with what the answer to a sign-in shows.
package struct OpenedSession: Sendable {
    package var grant: SessionGrant
    package var user: User
    package var identityID: UUID
    package var identityCreatedAt: Date
    package var identityDisplayName: String?
    package var isNewAccount: Bool
    /// An admin asked for a new password.
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

/// A line in the list of a person's sessions.
package struct SessionListing: Sendable, Equatable {
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

/// Why a session ended; kept with it and in the audit.
package enum SessionEnd: String, Sendable {
    case logout, revoked, refreshReused, passwordReset, passwordChanged, accountDeleted, accountDisabled
    case codeReplayed, consentRevoked, identityRemoved, addressProvenByAnother
    case guestUpgraded, guestSwitched, merged, mergeUndone, numberRecycled
}
