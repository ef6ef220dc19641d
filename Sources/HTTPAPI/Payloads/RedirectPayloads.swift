internal import Accounts

/// Where an app that drives the browser itself sends it.
struct AuthorizationRedirectResponse: Codable, Sendable {
    let url: String
    let state: String
}

struct CodeBody: Codable, Sendable {
    enum CodingKeys: String, CodingKey {
        case code, state, codeVerifier, ticket
        case redirectURI = "redirect_uri"
    }

    let code: String
    let state: String?
    let redirectURI: String
    let codeVerifier: String?
    let ticket: String?

    var presented: PresentedCode {
        PresentedCode(code: code, state: state, redirectURI: redirectURI, codeVerifier: codeVerifier)
    }
}

struct NotificationBody: Codable, Sendable {
    let payload: String
    /// The provider's name; without it, whichever of its kind the event is for takes it.
    let provider: String?
}
