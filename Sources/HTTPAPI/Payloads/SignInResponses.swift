package import Accounts
internal import OpenID
internal import ProviderKit

/// The response to a request for a new password, the same for known and unknown addresses.
struct MailedLinkResponse: ResponsePayload {
    static let fields = ResponseFields<Self>("MessageResponse") {
        Field("message") { _ in "If the address has an account, a mail with a link is on its way" }
    }
}

struct RegistrationResponse: ResponsePayload {
    let email: EmailAddress

    static let fields = ResponseFields<Self>("RegistrationResponse") {
        Field("message") { _ in "A mail with a link that confirms the address is on its way" }
        Field("email", \.email.value)
    }
}

/// A code that was sent; times are whole seconds, rounded up.
extension SentCode: ResponsePayload {
    package static let fields = ResponseFields<Self>("SentCodeResponse") {
        Field("challengeId", \.id.text)
        Field("expiresIn", \.expiresIn.secondsRoundedUp)
        Field("resendAfter", \.resendAfter.secondsRoundedUp)
    }
}

/// The URL of the provider's page, for an app that opens the browser itself.
extension AuthorizationRedirect: ResponsePayload {
    package static let fields = ResponseFields<Self>("AuthorizationRedirectResponse") {
        Field("url", \.url)
        Field("state", \.state)
    }
}

/// The enabled providers of an application, and its own pages.
struct ProviderList: ResponsePayload {
    let providers: [Entry]

    static let fields = ResponseFields<Self>("ProviderList") { Field("providers", \.providers) }

    /// `pages` is what the application's own pages are called; `nil` if it has none.
    init(of application: Application, pages: String?) {
        providers =
            application.providers.enabled.map { provider in
                Entry(
                    name: provider.name, kind: provider.kind, displayName: provider.displayName, flow: provider.flow)
            }
            + (pages.map { pages in
                let name = OwnClient.hostedProvider
                return [Entry(name: name, kind: name, displayName: pages, flow: .redirect)]
            } ?? [])
    }

    struct Entry: ResponsePayload {
        let name, kind, displayName: String
        let flow: ProviderFlow

        static let fields = ResponseFields<Self>("ProviderListEntry") {
            Field("name", \.name)
            Field("kind", \.kind)
            Field("displayName", \.displayName)
            Field("flow", as: .choice(of: ProviderFlow.self), \.flow.rawValue)
        }
    }
}
