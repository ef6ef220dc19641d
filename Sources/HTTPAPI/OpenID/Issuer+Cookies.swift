internal import Accounts
internal import OpenID

extension Issuer {
    /// The URL of the page of a request.
    func page(of request: String, query: String? = nil) -> String {
        "\(application.issuer)/signin/\(request)\(query.map { "?\($0)" } ?? "")"
    }
}

/// The cookies of the issuer's pages.
extension Issuer {
    /// What the cookies of a request say about its browser.
    func browser(of request: IncomingRequest) -> Authorization.Browser {
        Authorization.Browser(sessions: request.cookie(cookie("sso")), flow: request.cookie(cookie("browser")))
    }

    /// The id of the session whose account the browser used last at the account pages.
    func lastUsedAccount(of request: IncomingRequest) -> String? { request.cookie(cookie("account")) }

    /// A cookie for the issuer's host, until the browser closes unless it has a lifetime.
    func setCookie(_ purpose: String, to value: String, for lifetime: Duration? = nil) -> String {
        let age = lifetime.map { "; Max-Age=\($0.components.seconds)" } ?? ""
        return "\(cookie(purpose))=\(value); Path=/; \(isSecure ? "Secure; " : "")HttpOnly; SameSite=Lax\(age)"
    }

    /// The name of a cookie of the issuer's pages.
    ///
    /// With plain HTTP, which only a development server uses, browsers refuse the prefix `__Host-`.
    private func cookie(_ purpose: String) -> String {
        "\(isSecure ? "__Host-" : "")gatehouse-\(purpose)-\(application.name)"
    }

    private var isSecure: Bool { application.issuer.hasPrefix("https:") }
}
