package import Foundation
package import ProviderKit

package struct Client: Sendable, Equatable {
    package var device: String?
    /// The header `User-Agent`; `device` is the same unless the client names its device.
    package var userAgent: String?
    /// The IP address, as trusted proxies report it.
    package var address: String
    /// The path of the endpoint that the client called, with its placeholders.
    package var route = ""
    /// The beginning of `Accept-Language` (RFC 9110, 12.5.4).
    package let languages: String?
    /// The connection, for calls with expensive work that a disconnect makes unnecessary.
    package var connection: ClientConnection?
    /// The place in the hashing queue, for calls that hash a password.
    package var hashingPlace: HashingPlace?
    /// The cookie that keeps the sessions of a browser; `nil` for an app, which keeps tokens.
    package var cookie: BrowserCookie?
    /// How an app keeps the session that the call opens; not used with a cookie.
    package var renewal = Renewal.refresh
    /// Whether a session with refresh tokens that the call opens ends after `ApplicationPolicy.Tokens.shortSessions`.
    package var opensShortSession = false
    /// The name of the dialect that the client speaks; `nil` for version 1 of the API and for pages.
    package var dialect: String?

    /// Creates a client; ignores `languages` unless all characters are visible ASCII or spaces, as the header requires.
    package init(device: String?, address: String, languages: String? = nil) {
        (self.device, self.address) = (device, address)
        let isPlausible = languages?.utf8.allSatisfy { (0x20...0x7E).contains($0) } == true
        self.languages = isPlausible ? languages.map { String($0.prefix(Self.longestLanguages)) } : nil
    }

    /// The longest stored `languages`, in bytes.
    private static let longestLanguages = 200

    /// The IPv4 address, or a subscriber's IPv6 network: the key of rate limits and of the hashing queue.
    package var network: String { IPAddress(address)?.subscriber ?? address }

    /// The address block that contains the network; one holder of a block can use many networks.
    package var block: String { IPAddress(address)?.block ?? address }
}

/// The cookie under which a browser keeps its sessions, one for each account.
///
/// Each proof replaces the cookie for all sessions of the browser, so that a value that somebody else knew is worth
/// nothing afterwards.
package struct BrowserCookie: Sendable, Equatable {
    /// SHA-256 of the new value.
    package let hash: [UInt8]
    /// SHA-256 of the value that the browser sent, if any.
    package let replaced: [UInt8]?
    /// The id of the session that is opened, unless it is taken; two calls with the same cookie cannot both use it.
    package let session: UUID
    /// The lifetime of the session that is opened.
    package let lifetime: Duration
    /// How long that session may stay unused; `nil` if the browser remembers it.
    package let idle: Duration?

    package init(hash: [UInt8], replacing replaced: [UInt8]?, session: UUID, lifetime: Duration, idle: Duration?) {
        (self.hash, self.replaced, self.session) = (hash, replaced, session)
        (self.lifetime, self.idle) = (lifetime, idle)
    }
}

/// A session to open; its id and secret are generated before, so that one statement writes it.
package struct NewSession: Sendable {
    package let id = UUID.v7()
    package let application: Application
    /// The configured name of the provider that verified the evidence.
    package let provider: String
    package let evidence: VerifiedIdentity
    package let client: Client
    package let secret: SessionSecret
    /// The keyed hash of the device's name and user agent; `nil` for sessions without a session bearer.
    package var deviceMark: [UInt8]?
    /// The caller's session if the caller re-authenticates; the new session may complete operations that it began.
    package var resumes: UUID?
    /// The session that this one replaces after a merge or a cancelled deletion ended it.
    package var continues: UUID?
    /// Whether another device or an app opens it, so that it never counts as recent until something is proven in it.
    package var isBorrowed = false
    /// Whether the evidence is a proof of the identity; otherwise opening the session does not count as a use of it.
    package var provesIdentity = true
    /// Whether it is opened because an identity was linked.
    var isOfLink = false
    /// The session that requests the link, if the statement that adds the identity has to check that it is live, and
    /// that its account is no guest's.
    package var linkingSession: UUID?
    /// When the person authenticated to the provider; `nil` if that is the current time.
    package var authenticatedAt: Date?
    /// The password that the account gets when it is restored; only a password reset sets it.
    var newPassword: PasswordHash?
    /// Whether evidence of an identity without an account opens one; otherwise that throws `UnknownIdentity`.
    var mayOpenAccount = true

    package init(
        by evidence: VerifiedIdentity, of provider: String, from client: Client, in application: Application,
        secret: SessionSecret
    ) {
        (self.application, self.provider, self.evidence) = (application, provider, evidence)
        (self.client, self.secret) = (client, secret)
    }

    /// Whether opening the session counts as a sign-in.
    package var isSignIn: Bool { provesIdentity && !isBorrowed && !isOfLink }
}

/// A live session, with the data for its access tokens.
package struct SessionGrant: Sendable, Equatable {
    package var sessionID, uid: UUID
    package var authenticatedAt: Date
    /// When the session expires; none of its tokens is valid longer.
    package var expiresAt: Date
    /// How often the session was renewed; each renewal invalidates its older tokens.
    package var generation: Int32
    /// Whether another device or an app has opened the session, and nothing was proven in it since.
    package var isBorrowed = false
    package var methods: [String]
    package var provider, providerUid: String
    /// The account's first verified e-mail address; `phone` is its first verified number.
    package var email: String?
    package var phone: String?
    /// The profile that the identity's provider last reported.
    package var profile: [String: JSONValue]
    package var access = AccountAccess()
    /// What an OpenID client's token is for; `nil` for a session of the REST interface.
    package var clientScope: ClientScope?

    package init(
        sessionID: UUID, uid: UUID, authenticatedAt: Date, expiresAt: Date, generation: Int32 = 0, methods: [String],
        provider: String, providerUid: String, email: String?, phone: String?, profile: [String: JSONValue] = [:]
    ) {
        (self.sessionID, self.uid, self.authenticatedAt) = (sessionID, uid, authenticatedAt)
        (self.expiresAt, self.generation, self.methods, self.provider) = (expiresAt, generation, methods, provider)
        (self.providerUid, self.email, self.phone, self.profile) = (providerUid, email, phone, profile)
    }
}

/// What the tokens of an OpenID client are for.
package struct ClientScope: Sendable, Equatable {
    package var scopes, resources: [String]
    /// The claims that userinfo returns besides those of the scopes.
    package var claims: [String]
    /// The claims that ID tokens have besides those of the scopes.
    package var tokenClaims: [String] = []
    /// Whether the session was opened by a guest.
    package var isGuest: Bool
    /// What `tokenClaims` are read from; may be `nil` if there are none.
    package var account: AccountClaims?

    package init(scopes: [String], resources: [String], claims: [String], isGuest: Bool) {
        (self.scopes, self.resources, self.claims, self.isGuest) = (scopes, resources, claims, isGuest)
    }
}

/// What clients may learn about an account.
package struct AccountClaims: Sendable, Equatable {
    package var uid: UUID
    package var name, locale, email, phone: String?
    package var updatedAt: Date
    /// The accounts that were merged into it; userinfo alone needs them.
    package var absorbed: [UUID] = []

    package init(uid: UUID, name: String?, locale: String?, email: String?, phone: String?, updatedAt: Date) {
        (self.uid, self.name, self.locale, self.email, self.phone) = (uid, name, locale, email, phone)
        self.updatedAt = updatedAt
    }
}

/// A session that was just opened, with the data for the response to a sign-in.
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
        (self.grant, self.user, self.identityID) = (grant, user, identityID)
        (self.identityCreatedAt, self.identityDisplayName) = (identityCreatedAt, identityDisplayName)
        (self.isNewAccount, self.shouldChangePassword) = (isNewAccount, shouldChangePassword)
    }
}

/// Who uses a session: an app of the REST interface, a browser for single sign-on, or an OpenID client.
package enum SessionKind: String, Sendable, CaseIterable { case api, browser, client }

package struct ListedSession: Sendable, Equatable {
    package var id: UUID
    package var device, address: String?
    package var createdAt, lastSeenAt: Date
    /// When the session ends unless it is used: its refresh token, bearer or cookie may end sooner than the session.
    package var expiresAt: Date
    package var kind: SessionKind
    /// The OpenID client of a client session.
    package var client: String?
    /// The client's own name for itself, after its hosts, if it has registered itself.
    package var clientName: String?
    /// The browser session that a client session belongs to.
    package var browser: UUID?
    /// The kind of the device on which an app is installed that the session belongs to; `device` is then its own name.
    package var deviceType: String?

    package init(
        id: UUID, device: String?, address: String?, createdAt: Date, lastSeenAt: Date, expiresAt: Date,
        kind: SessionKind, client: String?, browser: UUID?
    ) {
        (self.id, self.device, self.address) = (id, device, address)
        (self.createdAt, self.lastSeenAt, self.expiresAt) = (createdAt, lastSeenAt, expiresAt)
        (self.kind, self.client, self.browser) = (kind, client, browser)
    }
}

/// The reason for which a session ended, which is stored with the session and in the audit.
package enum SessionEnd: String, Sendable, CaseIterable {
    case logout, revoked, refreshReused, passwordReset, passwordChanged, accountDeleted, accountDisabled
    case codeReplayed, consentRevoked, identityRemoved, addressProvenByAnother
    case guestUpgraded, guestSwitched, merged, mergeUndone, numberRecycled
    case clientRevoked, signedOut, parentEnded, instanceDeleted
    /// An administrator has changed the account's roles or claims.
    case accessChanged
    /// An administrator has ended the session.
    case administrator
    /// Somebody else has signed in on the installation of an app.
    case rebound
    /// An administrator has switched the provider that opened the session.
    case providerSwitched
}
