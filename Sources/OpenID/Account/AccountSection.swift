package import Accounts
package import Foundation

/// A section of the pages at `/account`.
package enum AccountSection: String, Sendable, CaseIterable {
    case overview = ""
    case name, language, password, identities, sessions, apps, merges, data

    /// The path below the issuer.
    package var path: String { self == .overview ? "/account" : "/account/\(rawValue)" }
}

extension Issuer {
    /// The URL of a section.
    package func url(of section: AccountSection) -> String { application.issuer + section.path }
}

extension ClientRequest {
    /// A request of the account pages, after which the browser returns to a section.
    package init(endingAt section: AccountSection, of issuer: Issuer) {
        self.init(.accountPages, endingAt: issuer.url(of: section))
    }
}

/// The content of a section, besides the account.
package enum AccountContent: Sendable {
    case overview, name, language, data
    /// `isPossible` says whether the account has an address with which a password can be used.
    case password(isPossible: Bool)
    /// With `sent`, the page also asks for the code of a change of address.
    case identities([ListedIdentity], sent: SentAddressCode?)
    case sessions([ListedSession])
    case apps([ClientGrant])
    case merges([Merge])
}

/// A code that was sent to the new address of an identity.
///
/// The page's form returns it; the form's token covers it, so a changed value is refused.
package struct SentAddressCode: Sendable, Equatable {
    package let identity: UUID
    package let challenge: String
    /// The new address.
    package let address: String

    package init(identity: UUID, challenge: String, address: String) {
        (self.identity, self.challenge, self.address) = (identity, challenge, address)
    }
}

/// An action of the person in a section; an id that cannot be parsed is `nil`.
package enum AccountAction: Sendable {
    /// Goes to another account of the browser, or signs in to one.
    case other
    case rename(to: String?)
    /// Chooses the language by its tag; `nil` for one that the pages do not have.
    case chooseLanguage(String?)
    case changePassword(to: String?, current: String?)
    /// Links an identity of a provider.
    case add(provider: String?)
    case remove(identity: UUID?)
    case changeAddress(of: UUID?, to: String?)
    case verify(SentAddressCode?, code: String?)
    case endSession(UUID?)
    case endOtherSessions
    /// Whether the browser's session lasts after the browser closes.
    case remember(Bool)
    case revoke(client: String?)
    case undo(merge: UUID?)
    case export
    /// `isConfirmed` says whether the person has typed the word that the page shows in the account's language.
    case delete(isConfirmed: @Sendable (BrowserAccount) -> Bool)
}

extension AccountAction {
    /// The typed text and its identity, which the page shows again after a refusal.
    var typed: (entry: UUID?, text: String)? {
        switch self {
        case .rename(let name?): (nil, name)
        case .changeAddress(let identity, let address?): (identity, address)
        default: nil
        }
    }
}

/// One page of an account.
package struct ShownAccount: Sendable {
    package let section: AccountSection
    package let account: BrowserAccount
    package let content: AccountContent
    /// The hidden field of the page's forms, and of the form for the code of a change of address.
    package let formToken: String
    package let codeToken: String?
    /// The value of the flow cookie.
    package let flow: String
    /// The text, without secrets, that the person typed into a form that was refused; `entry` is its identity.
    package var typed: (entry: UUID?, text: String)?
    /// Why the form was refused.
    package var problem: (any Error)?
}

/// The response of a page of an account.
package enum AccountResponse: Sendable {
    case page(ShownAccount)
    /// Redirects the browser to the section; `isDone` says whether the form has changed something.
    case reload(isDone: Bool, SessionCookie?)
    /// Redirects to the pages of this request, on which the person signs in, chooses an account or signs in again.
    case request(String, flow: String)
    /// The account's data follows as a file.
    case export(AccountExport, of: Principal)
    /// The account's deletion has begun; the person can restore the account until `purgeAfter`.
    case deleted(BrowserAccount, receipt: UUID, purgeAfter: Date)
    /// The form does not come from this page in this browser.
    case forged
}
