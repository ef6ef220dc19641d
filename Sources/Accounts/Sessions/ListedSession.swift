package import Foundation

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
