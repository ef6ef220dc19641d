package import Accounts
package import Foundation

/// An account that the browser is signed in to, or was until its session expired a short time ago.
package struct BrowserAccount: Sendable {
    package var session: BrowserSession
    /// `false` if the session has expired; the person must sign in again.
    package var isLive: Bool
    package var isRemembered: Bool
    /// Whether the account was opened together with this session.
    package var isNew: Bool
    package var lastUsedAt: Date
    package var name, locale: String?
    /// The address with which the account's password is typed; `nil` if it has no password.
    package var passwordAddress: String?
    /// The verified addresses, the oldest first.
    package var emails, phones: [String]
    /// When the person authenticated, and the identity that opened the session.
    package var authenticatedAt: Date
    package var provider, providerUid: String
    /// The configured names of the providers that the account has identities of.
    package var providers: Set<String> = []

    package init(
        session: BrowserSession, isLive: Bool, isRemembered: Bool, isNew: Bool, lastUsedAt: Date, name: String?,
        locale: String?,
        passwordAddress: String?, emails: [String], phones: [String], authenticatedAt: Date, provider: String,
        providerUid: String
    ) {
        (self.authenticatedAt, self.provider, self.providerUid) = (authenticatedAt, provider, providerUid)
        (self.session, self.isLive, self.isRemembered, self.isNew) = (session, isLive, isRemembered, isNew)
        (self.lastUsedAt, self.name, self.locale) = (lastUsedAt, name, locale)
        (self.passwordAddress, self.emails, self.phones) = (passwordAddress, emails, phones)
    }

    /// The address by which the person knows the account.
    package var address: String? { passwordAddress ?? emails.first ?? phones.first }

    /// The account as a caller of the use cases, by the browser's session.
    package func principal(in application: Application) -> Principal {
        var principal = Principal(
            application: application, uid: session.uid, sessionID: session.id,
            authenticatedAt: Int(authenticatedAt.timeIntervalSince1970), provider: provider, providerUid: providerUid)
        principal.isBorrowed = session.isBorrowed
        return principal
    }
}

/// An open or ended request, and the accounts of the browser that has it.
package struct BrowserRequest: Sendable {
    package let stored: StoredRequest
    /// Whether the request has neither ended nor expired.
    package let isOpen: Bool
    package let accounts: [BrowserAccount]

    package init(stored: StoredRequest, isOpen: Bool, accounts: [BrowserAccount]) {
        (self.stored, self.isOpen, self.accounts) = (stored, isOpen, accounts)
    }
}
