package import Accounts
package import Foundation

/// One page of an authorization request.
package struct ShownStep: Sendable {
    package enum Name: String, Sendable, CaseIterable {
        case signIn = "signin"
        case signUp = "signup"
        case code, forgot, done, accounts, reauthenticate, confirm, consent, welcome, link, conflict, merge
        case restore, qr, device
        case deviceConfirm = "device-confirm"
        case newPassword = "new-password"
        case secondProof = "second-proof"
        case newOrLink = "new-or-link"
    }

    package let name: Name
    package let request: ClientRequest
    package let client: OAuthClient
    package let accounts: [BrowserAccount]
    /// The account that the page is about, if it is about one.
    package let account: BrowserAccount?
    package let progress: RequestProgress
    /// The hidden field of the page's forms.
    package let formToken: String
    /// Whether the page may lead to the one that opens a new account with a code.
    package let offersSignUp: Bool
    /// Whether the page may lead to the one with a code that a phone confirms.
    package let offersQRCode: Bool
    /// Whether the request may open an account at all.
    package let opensAccounts: Bool
    /// Whether a link of another page has led to this one.
    package let isLinked: Bool
    /// The account that an installation of an app leaves if the person goes on.
    package var formerOwner: InstanceOwner?
    /// The two accounts of a merge, unless it is no longer possible.
    package var merge: MergePreview?
    /// The code that a phone confirms, on its page, and what its picture contains.
    package var qrCode: (state: ShownQRCode, url: String)?
    /// The device that the person is asked to allow, on its page.
    package var device: NoticedDevice?
    /// The address or name that the person has typed into a form that was refused.
    package var typed: String?
    /// Whether that form had the box ticked to stay signed in.
    package var remembers: Bool?
    /// Why the form was refused.
    package var problem: (any Error)?
    /// The configured name of the provider whose proof was refused, if it came from one's pages.
    package var refusedProvider: String?
}

/// What a person presses or types at a page.
package enum StepAction: Sendable {
    case password(identifier: String?, password: String?, remember: Bool)
    /// Sends a code to an address.
    case code(identifier: String?, remember: Bool)
    case verify(code: String?)
    case resend, back
    /// Shows a code that a phone confirms, another code, or goes on once it is confirmed.
    case showQRCode, again
    case finish(remember: Bool)
    /// Continues with an account of the browser, by the id of its session.
    case choose(String?)
    /// Signs in with another account.
    case other
    /// Removes an account whose session has expired from the list.
    case forget(String?)
    /// Continues; at the page that asks for it, with the code of a device.
    case proceed(userCode: String?)
    case allow, deny
    /// Sets the name and the password of a new account, or a new password.
    case save(displayName: String?, password: String?)
    case skip
    /// Opens a new account with the identity that a provider has proven.
    case create
    /// Signs in to the account that the identity is to join.
    case link
    /// Leaves the identity to the other account, gives the guest up for it, or merges the two accounts.
    case keep, switchAccount
    case merge(survivor: String?)
    case restore, leave
    /// Mails a link to choose a new password.
    case sendReset(identifier: String?)
}

extension StepAction {
    /// The typed address or name, which the page shows again after a refusal.
    var typed: String? {
        switch self {
        case .password(let identifier, _, _), .code(let identifier, _), .sendReset(let identifier): identifier
        case .save(let displayName, _): displayName
        case .proceed(let userCode): userCode
        default: nil
        }
    }

    /// What a form that opens or proves a session has proven it with; `nil` for other forms.
    var proof: String? {
        switch self {
        case .password(let identifier, let password, _): "\(identifier ?? "")\n\(password ?? "")"
        case .verify(let code): code
        case .restore, .create, .switchAccount, .finish: ""
        case .merge(let survivor): survivor ?? ""
        default: nil
        }
    }

    /// Whether the box to stay signed in was ticked; `nil` for forms without it.
    var remembers: Bool? {
        switch self {
        case .password(_, _, let remember), .code(_, let remember), .finish(let remember): remember
        default: nil
        }
    }
}

/// The cookie of a browser's sessions.
package struct SessionCookie: Sendable {
    package let value: String
    /// How long the browser keeps it; `nil` if until it closes.
    package let lifetime: Duration?
}

/// What the browser gets at the page of a request.
package enum StepResponse: Sendable {
    case page(ShownStep)
    /// The browser gets the page's present step.
    case reload(SessionCookie?)
    /// The browser goes to a provider's pages.
    case provider(AuthorizationRedirect)
    /// The request has ended with this response, a code or an error.
    case ended(Authorization.Response, of: OAuthClient, at: Issuer, SessionCookie?)
    /// The request of the account pages has ended, for a session unless it was cancelled; they continue at this URL.
    case account(String, session: UUID?, SessionCookie?)
    /// The request of the account pages was cancelled, and no account is signed in to go back to.
    case left
    /// A device was allowed or refused, or the person has left its page.
    case device(isAllowed: Bool)
    case fault(StepFault)
}

/// Why the page of a request cannot be shown.
package enum StepFault: Sendable, Equatable {
    /// The request is unknown, or of another browser.
    case notYours
    /// The request has ended; the person may begin again at the client.
    case over(clientURI: String?)
    /// The form is not one of this page in this browser.
    case forged
}
