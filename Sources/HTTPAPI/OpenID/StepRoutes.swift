internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

/// The pages of authorization requests.
struct StepRoutes {
    let operations: StepOperations

    private static let path = "/signin/{request}"
    /// The path of the application's picture.
    static let logo = "/pages/logo"

    var endpoints: [Endpoint] {
        [
            operations.show.at(
                .get, below: "", Self.path, "Shows what an authorization request asks next",
                takes: .issuer(.get) { $0["request"] }, returns: .step, answersHEAD: false),
            operations.submit.at(
                .post, below: "", Self.path, "Takes the form of the page",
                takes: .issuer(.post) { ($0["request"], try $0.fields()) }, returns: .step),
            operations.cancel.at(
                .get, below: "", Self.path + "/cancel", "Ends an authorization request",
                takes: .issuer(.get) { $0["request"] }, returns: .step, answersHEAD: false),
            .open(
                Self.logo, "The picture above each page",
                returns: [.init(description: "The picture", contentType: "image/*")]
            ) { context in
                guard let picture = try context.issuer.settings.pages.logo else { throw APIError.nothingHere }
                var response = Response.bytes(picture.bytes, type: picture.type, cache: "public, max-age=300")
                // An SVG that a person opens by itself runs nothing.
                response.headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
                return response
            },
        ]
    }
}

extension IncomingRequest {
    /// Whether the browser says that the form is one of the issuer's pages.
    func isFromPage(of issuer: Issuer) -> Bool {
        let (site, origin) = (request.headers[.secFetchSite], request.headers[.origin])
        return (site?.hasSameBytes(as: "same-origin") ?? true) && (origin?.hasSameBytes(as: issuer.origin) ?? true)
    }
}

extension ResponseShape<StepOperations.Output> {
    fileprivate static var step: Self {
        Self(
            responses: [
                .init(description: "A page"),
                .init(status: .seeOther, description: "The page's next step, or back to an app on a device"),
            ] + .stepErrors, writesError: Response.stepError
        ) { output, context in
            let (answer, request, issuer) = output
            switch answer {
            case .page(let step): return .step(step, of: request, at: issuer, context: context)
            case .reload(let cookie):
                let query = context.request.request.uri.query.map { "?\($0)" } ?? ""
                return .seeOther("\(issuer.application.issuer)/signin/\(request)\(query)").setting(cookie, of: issuer)
            case .ended(let answer, let client, let cookie):
                return .leaving(by: answer, of: issuer, client: client, fromPage: true, context: context)
                    .setting(cookie, of: issuer)
            case .account(let url, let session, let cookie):
                var response = Response.seeOther(url).setting(cookie, of: issuer)
                response.headers.append(
                    HTTPField(name: .setCookie, value: issuer.setCookie("account", to: session.text)))
                return response
            case .fault(.notYours):
                return .step(.error(reason: "not_your_request", url: nil), status: .badRequest, context: context)
            case .fault(.over(let url)):
                return .step(.error(reason: "request_over", url: url), status: .badRequest, context: context)
            case .fault(.forged):
                return .step(.error(reason: "csrf", url: nil), status: .forbidden, context: context)
            }
        }
    }
}

extension Response {
    fileprivate func setting(_ cookie: SessionCookie?, of issuer: Issuer) -> Response {
        guard let cookie else { return self }
        var response = self
        response.headers[.setCookie] = issuer.setCookie("sso", to: cookie.value, for: cookie.lifetime)
        return response
    }

    /// The page of a step, with the status of what was refused.
    fileprivate static func step(
        _ step: ShownStep, of id: String, at issuer: Issuer, context: OperationContext
    ) -> Response {
        let problem = step.problem.flatMap { APIError(any: $0) }
        let request = context.request.request
        let application = context.scope.application
        let language = PageLanguage(
            of: request, client: step.request.locales, account: step.account?.locale, at: application)
        var page = StepPage(
            .init(step, in: language, at: issuer, repeating: problem != nil), in: language,
            of: application)
        page.client = step.client.name(in: language)
        page.formToken = step.formToken
        page.problem = problem.map {
            .init(code: $0.code.rawValue, rule: $0.details?["rule"]?.string, retryAfter: $0.retryAfter)
        }
        page.cancel = "\(issuer.application.issuer)/signin/\(id)/cancel"
        page.formTargets = step.client.formTargets(of: step.request.returnAddress.redirectURI)
        let status: HTTPResponse.Status =
            switch problem {
            case nil: .ok
            case let problem? where problem.status == 503: .serviceUnavailable
            case let problem?: problem.retryAfter == nil ? .badRequest : .tooManyRequests
            }
        var response = Response.page(page.page, status: status)
        response.headers[.retryAfter] = problem?.retryAfter.map(String.init)
        return response
    }
}

extension OAuthClient {
    /// The client's name in a language, or in another one that it has.
    fileprivate func name(in language: PageLanguage) -> String {
        names[language.rawValue] ?? name
    }

    /// Where a form may lead besides this server: to the app of a native client, which only a redirect opens.
    fileprivate func formTargets(of redirectURI: String) -> [String] {
        guard isNative(redirectingTo: redirectURI), let url = URLComponents(string: redirectURI),
            let scheme = url.scheme
        else { return [] }
        guard scheme.hasPrefix("http"), let host = url.encodedHost else { return ["\(scheme):"] }
        return ["\(scheme)://\(host)\(url.port.map { ":\($0)" } ?? "")"]
    }
}
