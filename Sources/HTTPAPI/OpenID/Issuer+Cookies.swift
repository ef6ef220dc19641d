internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

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
        Authorization.Browser(
            sessions: request.cookie(cookie("sso")), flow: request.cookie(cookie("browser")),
            nativeSecret: request.cookie(Self.nativeSecret))
    }

    /// The name of the cookie with which an app signs its account in at a browser that it shows.
    private static let nativeSecret = "css"

    /// Removes that cookie at each path at which an app may have set it.
    fileprivate func dropNativeSecret(in response: inout Response) {
        let base = URLComponents(string: application.issuer)?.path ?? ""
        let blitz = Place.blitz.base
        for path in Set([base.isEmpty ? "/" : base, "/", blitz, base + blitz]).sorted() {
            let cookie = "\(Self.nativeSecret)=; Path=\(path); \(secure)HttpOnly; Max-Age=0"
            response.headers.append(HTTPField(name: .setCookie, value: cookie))
        }
    }

    /// The id of the session whose account the browser used last at the account pages.
    func lastUsedAccount(of request: IncomingRequest) -> String? { request.cookie(cookie("account")) }

    /// The language that a link of a page has chosen, until the browser closes.
    func chosenLanguage(of request: Request) -> String? { request.cookie(cookie("lang")) }

    /// Keeps the language that a link of a page has chosen (`lang`) for the pages that follow.
    ///
    /// At the authorization endpoint `lang` is no parameter, so it is ignored.
    func keepLanguage(chosenBy request: IncomingRequest, at path: String, in response: inout Response) {
        guard request.request.method == .get, let query = try? request.query,
            let chosen = query["lang"].flatMap(PageLanguage.init(bytesOf:)),
            !path.hasSameBytes(as: place.path(of: .authorization))
        else { return }
        response.headers.append(HTTPField(name: .setCookie, value: setCookie("lang", to: chosen.rawValue)))
    }

    /// Drops that language, after the person or a client has asked for another one.
    func dropLanguage(in response: inout Response) {
        response.headers.append(HTTPField(name: .setCookie, value: setCookie("lang", to: "", for: .zero)))
    }

    /// The ID token that another site has posted to sign out with.
    func logoutHint(of request: IncomingRequest) -> String? { request.cookie(cookie("logout")) }

    /// Keeps that ID token until the browser asks again; `nil` drops an older one.
    func keepLogoutHint(_ hint: String?, in response: inout Response) {
        let value = setCookie("logout", to: hint ?? "", for: hint == nil ? .zero : .seconds(60))
        response.headers.append(HTTPField(name: .setCookie, value: value))
    }

    /// Drops that ID token, if the browser has brought it.
    func dropLogoutHint(of request: IncomingRequest, in response: inout Response) {
        guard logoutHint(of: request) != nil else { return }
        response.headers.append(HTTPField(name: .setCookie, value: setCookie("logout", to: "", for: .zero)))
    }

    /// A cookie for the issuer's host, until the browser closes unless it has a lifetime.
    func setCookie(_ purpose: String, to value: String, for lifetime: Duration? = nil) -> String {
        let age = lifetime.map { "; Max-Age=\($0.components.seconds)" } ?? ""
        return "\(cookie(purpose))=\(value); Path=/; \(secure)HttpOnly; SameSite=Lax\(age)"
    }

    /// The attribute of cookies that only HTTPS carries.
    private var secure: String { application.isSecure ? "Secure; " : "" }

    /// The name of a cookie of the issuer's pages.
    ///
    /// With plain HTTP, browsers refuse the prefix `__Host-`.
    private func cookie(_ purpose: String) -> String {
        "\(application.isSecure ? "__Host-" : "")gatehouse-\(purpose)-\(application.name)"
    }
}

extension Response {
    /// Sets the cookies of a browser that has brought an app's secret.
    func setting(_ arrival: NativeArrival?, of issuer: Issuer) -> Response {
        guard let arrival else { return self }
        var response = setting(arrival.cookie, of: issuer)
        issuer.dropNativeSecret(in: &response)
        return response
    }

    /// Sets the cookie of the browser's sessions, if it has changed.
    func setting(_ cookie: SessionCookie?, of issuer: Issuer) -> Response {
        guard let cookie else { return self }
        var response = self
        let value = issuer.setCookie("sso", to: cookie.value, for: cookie.lifetime)
        response.headers.append(HTTPField(name: .setCookie, value: value))
        return response
    }
}
