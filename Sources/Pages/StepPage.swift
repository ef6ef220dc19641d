package import Foundation

/// One page of a sign-in, with everything that it shows.
package struct StepPage: Sendable {
    package enum Step: Sendable {
        case signIn(SignIn)
        /// Opens an account with a code, or signs in to the one that the address has.
        case signUp(SignIn)
        /// Mails a link to choose a new password; with the address that is filled in.
        case forgot(String?)
        /// A code was sent to the address.
        case code(to: String)
        /// The account proves itself again.
        case reauthenticate(SignIn, Account)
        /// The account asks for another proof, by one of its other ways to sign in.
        case secondProof(SignIn)
        /// An identity without an account; the person opens one, if that is allowed, or signs in to an own one.
        case newOrLink(provider: String, mayOpenAccount: Bool)
        /// A new account, with the name that is filled in.
        case welcome(name: String?, asksForPassword: Bool)
        case newPassword(Account)
        /// The account is being deleted, and can be restored until the date.
        case restore(until: Date)
        case accounts([Account])
        case confirm(Account, former: FormerOwner? = nil)
        case consent(Consent)
        case qr(QR)
        /// Where a code leads in the browser of a phone, which cannot answer it.
        case qrOpen([AppLink])
        /// Asks for the code that a device shows; `userCode` is the initial value of the field.
        case device(userCode: String?)
        case deviceConfirm(Device)
        case link(Link)
        /// The account that is signed in wants an identity that another one has.
        case conflict(Conflict, Account)
        case merge(Merge)
        /// Leads on to the client.
        case `return`(url: String)
        /// Posts the answer to the client.
        case formPost([(name: String, value: String)], url: String)
        case signOut([Account])
        /// `others` says whether other accounts of the browser are still signed in.
        case signedOut(others: Bool)
        /// The form of a mailed link, which confirms a registration.
        case verifyEmail
        /// The form of a mailed link, which sets a new password.
        case resetPassword
        /// The form of a mailed link, which keeps or removes identities after a password reset.
        case review([ReviewedIdentity])
        /// The form of an invitation, which opens an account, with the name that is filled in.
        case invitation(name: String?)
        /// The form of a link of an administrator, which sets a new password.
        case recover
        /// What the person wanted is done; `next` is the URL of the page that leads on.
        case done(Done, next: String?)
        case account(AccountPage)
        /// The account's deletion has begun: `receipt` is where its progress can be read; until `restorableUntil`, signing in
        /// offers to restore the account.
        case deleted(receipt: String, restorableUntil: Date?)
        /// The request cannot go on; `reason` names why for machines, `url` is the client's.
        case error(reason: String, url: String?)
    }

    /// The ways to sign in that a page offers.
    package struct SignIn: Sendable {
        /// The address that is filled in.
        package var identifier: String?
        package var hasPassword = false
        package var sendsMail = false
        package var sendsTexts = false
        package var asksToRemember = false
        /// Whether the box to stay signed in is ticked.
        package var isRemembered = false
        /// Whether the person came from the page of the browser's accounts.
        package var canGoBack = false
        /// Whether the page leads to the one with a code that a phone confirms.
        package var offersQRCode = false
        /// Whether the page has a link to open an account, and one to choose a new password.
        package var offersSignUp = false
        package var offersReset = false
        /// The providers whose pages the page links to.
        package var providers: [Provider] = []
        /// The provider whose identity joins the account that the person signs in to.
        package var joining: String?

        package init() {}
    }

    /// A link to a provider's pages.
    package struct Provider: Sendable {
        package let name, displayName, url: String

        package init(name: String, displayName: String, url: String) {
            (self.name, self.displayName, self.url) = (name, displayName, url)
        }
    }

    package struct Account: Sendable {
        /// The value that the page's form posts.
        package let id: String
        /// A name for the person, and an address or another sign by which the person recognises the account; a guest's
        /// may have neither.
        package let name, address: String?
        package let isSignedIn: Bool

        package init(id: String, name: String?, address: String?, isSignedIn: Bool) {
            (self.id, self.name, self.address, self.isSignedIn) = (id, name, address, isSignedIn)
        }
    }

    /// The other account that has signed in on the app's installation.
    package struct FormerOwner: Sendable {
        /// A name by which its owner is recognised.
        package let name: String?

        package init(name: String?) { self.name = name }
    }

    /// What a client asks for.
    package struct Consent: Sendable {
        /// Where the browser goes afterwards.
        package enum Destination: Sendable {
            case host(String)
            /// An app on the device that opens links of this scheme. Any app can, and a scheme may look like a host.
            case app(scheme: String)
        }

        package let account: Account
        package let destination: Destination
        /// Whether the client is not the operator's own.
        package let isForeign: Bool
        /// Whether the client has registered itself, so that its name is unchecked.
        package var isUnverified = false
        package let scopes: [Scope]
        /// The URLs of the client's picture, its privacy policy and its terms of service.
        package var logo, policy, terms: String?

        package init(account: Account, destination: Destination, isForeign: Bool, scopes: [Scope]) {
            (self.account, self.destination, self.isForeign, self.scopes) = (account, destination, isForeign, scopes)
        }
    }

    package enum Scope: Sendable {
        /// A scope of OpenID Connect, with the values that the client would see.
        case standard(String, value: String?)
        /// The text of a resource's scope.
        case resource(String)
    }

    /// An identity that the person keeps or removes.
    package struct ReviewedIdentity: Sendable {
        package let id, name: String
        package let linkedAt: Date
        /// Whether it can't sign in until it is kept.
        package let isQuarantined: Bool
        /// What the person has ticked.
        package let isKept, isRemoved: Bool

        package init(
            id: String, name: String, linkedAt: Date, isQuarantined: Bool, isKept: Bool = false, isRemoved: Bool = false
        ) {
            (self.id, self.name, self.linkedAt, self.isQuarantined) = (id, name, linkedAt, isQuarantined)
            (self.isKept, self.isRemoved) = (isKept, isRemoved)
        }
    }

    /// What a page says is done.
    package enum Done: String, Sendable, CaseIterable {
        case resetSent, verified, passwordSet, reviewed, invited, deviceAllowed, deviceDenied
    }

    /// Why a form was refused.
    package struct Problem: Sendable {
        /// The code of the REST interface, and the rule that refuses.
        package let code: String
        package let rule: String?
        /// Everything that is wrong with what was typed.
        package let reasons: [String]
        package let retryAfter: Int?
        /// The name of the provider whose proof was refused, as people see it.
        package var provider: String?

        package init(code: String, rule: String? = nil, reasons: [String] = [], retryAfter: Int? = nil) {
            (self.code, self.rule, self.reasons, self.retryAfter) = (code, rule, reasons, retryAfter)
        }

        /// Whether it is about what was typed, so that the page marks the field.
        var isOfField: Bool {
            [
                "INVALID_CREDENTIALS", "INVALID_PARAMETER", "MISSING_PARAMETER", "MISSING_EMAIL_OR_PASSWORD",
                "TOO_WEAK_PASSWORD",
            ].contains(code) && rule != "reauthentication.foreign"
        }
    }

    /// The URLs of the operator's own pages.
    package struct Links: Sendable {
        package var privacy, terms, support: String?

        package init(privacy: String? = nil, terms: String? = nil, support: String? = nil) {
            (self.privacy, self.terms, self.support) = (privacy, terms, support)
        }
    }

    package let step: Step
    package let language: PageLanguage
    /// What the application is called, whose accounts these are.
    package let application: String
    package var links = Links()
    /// The URL of the application's picture, of this server.
    package var logo: String?
    /// The colours of links and buttons on light and on dark ground, as in CSS.
    package var accent, darkAccent: String?
    /// The name of the client that asks.
    package var client: String?
    /// The hidden field of the page's forms.
    package var formToken: String?
    package var problem: Problem?
    /// Whether the page warns that an app shows it in a web view, and could read what the person types.
    package var isInWebView = false
    /// The page that the query of the page's URL names; links to other languages keep it.
    package var linkedPage: String?
    /// Where the link to cancel leads.
    package var cancel: String?
    /// Places besides the server's own to which the page's form may lead the browser.
    package var formTargets: [String] = []

    package init(_ step: Step, in language: PageLanguage, of application: String) {
        (self.step, self.language, self.application) = (step, language, application)
    }
}
