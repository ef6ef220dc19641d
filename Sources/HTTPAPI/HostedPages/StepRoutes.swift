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
    /// The fields of the pages' forms; each page has some of them.
    private static let fields: [OperationDescription.Parameter] =
        .ofPages + [
            .init("identifier", help: "An e-mail address or phone number."), .init("password", help: "A password."),
            .init("remember", help: "Present if the session is to last after the browser closes."),
            .init("code", help: "A code that was sent to the person."),
            .init("account", help: "One of the accounts that the page shows."),
            .init("displayName", help: "The name of a new account."),
            .init("survivor", help: "Which of two accounts remains: current or other."),
            .init("user_code", help: "The code that a device shows."),
        ]
    /// The path of the application's picture.
    static let logo = "/pages/logo"

    var endpoints: [Endpoint] {
        [
            begin("/signin", [], "Begins a sign-in that ends at the person's account"),
            begin("/signup", [.create], "Begins a sign-up that ends at the person's account"),
            operations.beginDevice.at(
                .get, below: "", "/device", "Begins to connect a device that shows a code",
                takes: .issuer(.get, [.init("user_code", help: "The code, which the page fills in.")]) { try $0.query },
                returns: .begun, answersHEAD: false),
            operations.show.at(
                .get, below: "", Self.path, "Shows what an authorization request asks next",
                takes: .issuer(.get) { $0["request"] }, returns: .step, answersHEAD: false),
            operations.submit.at(
                .post, below: "", Self.path, "Takes the form of the page",
                takes: .issuer(.post, Self.fields) { ($0["request"], try $0.fields()) }, returns: .step),
            operations.awaitQRCode.at(
                .get, below: "", Self.path + "/qr", "Waits until the state of the page's QR code differs from `after`",
                takes: .issuer(.get, [.init("after", help: "The state that the page shows.")]) {
                    ($0["request"], try $0.query["after"])
                }, returns: .json, answersHEAD: false),
            operations.cancel.at(
                .get, below: "", Self.path + "/cancel", "Ends an authorization request",
                takes: .issuer(.get) { $0["request"] }, returns: .step, answersHEAD: false),
            operations.leave.at(
                .get, below: "", Self.path + "/with/{provider}",
                "Sends the browser to a provider's pages, from which it comes back to the request",
                takes: .issuer(.get) { ($0["request"], $0["provider"]) }, returns: .step, answersHEAD: false),
            .open(
                Self.logo, "The picture above each page",
                returns: [.init(description: "The picture", contentType: "image/*")], errors: [.notFound]
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

extension StepRoutes {
    private func begin(_ path: String, _ prompts: Set<ClientRequest.Prompt>, _ summary: String) -> Endpoint {
        operations.begin(prompts).at(
            .get, below: "", path, summary, takes: .issuer(.get) { _ in () }, returns: .begun, answersHEAD: false)
    }
}

extension ResponseShape<StepOperations.Begun> {
    fileprivate static var begun: Self {
        Self(
            responses: [.init(status: .seeOther, description: "The first page")] + .stepErrors,
            writesError: Response.stepError
        ) { begun, context in
            .beginning(begun.id, in: begun.flow, at: begun.issuer, query: context.request.request.uri.query)
        }
    }
}

extension IncomingRequest {
    /// Whether the browser says that the form is one of the issuer's pages.
    func isFromPage(of issuer: Issuer) -> Bool { isFromPage(at: issuer.origin) }

    /// Whether the browser says that the form is one of the pages of the host that it is sent to.
    func isFromOwnPage(of scope: RequestScope) -> Bool {
        isFromPage(at: Issuer.origin(of: request, in: scope))
    }

    private func isFromPage(at ownOrigin: String) -> Bool {
        let (site, origin) = (request.headers[.secFetchSite], request.headers[.origin])
        return (site?.hasSameBytes(as: "same-origin") ?? true) && (origin?.hasSameBytes(as: ownOrigin) ?? true)
    }
}

extension ResponseShape<StepOperations.Output> {
    static var step: Self {
        Self(
            responses: [
                .page, .init(status: .seeOther, description: "The page's next step, or back to an app on a device"),
            ] + .stepErrors, writesError: Response.stepError
        ) { output, context in
            let (answer, request, issuer) = output
            switch answer {
            case .page(let step): return .step(step, of: request, at: issuer, context: context)
            case .reload(let cookie):
                let query = context.request.request.uri.query
                return .seeOther(issuer.page(of: request, query: query)).setting(cookie, of: issuer)
            case .provider(let redirect):
                var response = Response.seeOther(redirect.url)
                response.headers[.setCookie] = redirect.cookie?.header(age: FlowCookie.age, in: context)
                return response
            case .ended(let answer, let client, let issuer, let cookie):
                return .leaving(by: answer, of: issuer, client: client, fromPage: true, context: context)
                    .setting(cookie, of: issuer)
            case .account(let url, let session, let cookie):
                var response = Response.seeOther(url).setting(cookie, of: issuer)
                if let session {
                    response.headers.append(
                        HTTPField(name: .setCookie, value: issuer.setCookie("account", to: session.text)))
                }
                return response
            case .left: return .step(.signedOut(others: false), context: context)
            case .device(let isAllowed):
                return .step(.done(isAllowed ? .deviceAllowed : .deviceDenied, next: nil), context: context)
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
            .init(
                step, at: issuer.page(of: id), providers: issuer.providers(of: id, for: context.request.origin),
                in: language,
                of: issuer, repeating: problem != nil), in: language,
            of: application)
        page.client =
            switch step.client.own {
            case .accountPages?, .device?: nil
            case .hosted?: page.application
            // The page of consent shows the name and the host of a client that registered itself in a sentence.
            case nil where step.name == .consent && step.client.origin == .registered: step.client.name
            case nil: step.client.name(in: language)
            }
        page.formToken = step.formToken
        page.problem = step.pendingProblem
        page.isInWebView = step.isWarnedOf(UserAgent(request.headers[.userAgent]))
        page.cancel = issuer.page(of: "\(id)/cancel")
        if step.isLinked { page.linkedPage = step.name.rawValue }
        page.formTargets = step.client.formTargets(of: step.request.returnAddress.redirectURI)
        let provider = step.refusedProvider.flatMap { issuer.application.providers[$0]?.displayName }
        return .step(page, problem: problem, of: provider)
    }
}

extension ShownStep {
    /// Whether the page warns of the web view that shows it.
    ///
    /// An app must sign people in by the system's browser (RFC 8252, 8.12). Web clients get no warning, because apps may
    /// show these in a web view with the cookie `css`.
    fileprivate func isWarnedOf(_ agent: UserAgent) -> Bool {
        guard [.signIn, .signUp, .reauthenticate, .secondProof].contains(name), agent.isWebView else { return false }
        return client.isNative(redirectingTo: request.returnAddress.redirectURI)
    }

    /// Why the step asks for a decision, if that is a refusal of the linking rules.
    fileprivate var pendingProblem: StepPage.Problem? {
        if let code = progress.providerError, [.signIn, .signUp, .reauthenticate, .secondProof, .link].contains(name) {
            return .init(code: code)
        }
        guard name == .secondProof, let rule = progress.pending?.otherProof?.rule else { return nil }
        return .init(code: ErrorCode.secondProofRequired.rawValue, rule: rule)
    }
}

extension APIError {
    /// The status of a page that shows the error as its form's problem.
    var pageStatus: HTTPResponse.Status {
        status == 503 ? .serviceUnavailable : retryAfter == nil ? .badRequest : .tooManyRequests
    }
}

extension Issuer {
    /// The providers whose pages the browser of a request can go to, and those that recognise it without.
    fileprivate func providers(of request: String, for origin: RequestOrigin) -> [StepPage.Provider] {
        let providers = application.providers
        return (providers.redirecting + providers.recognising(origin)).map { provider in
            StepPage.Provider(
                name: provider.name, displayName: provider.displayName,
                url: page(of: "\(request)/with/\(provider.name)"))
        }
    }
}

extension OAuthClient {
    /// The client's name in a language, or in another one that it has; with its hosts if it has registered itself.
    func name(in language: PageLanguage) -> String {
        names[language.rawValue] ?? shownName
    }

    /// Where a form may lead besides this server: to the app of a native client, which only a redirect opens.
    fileprivate func formTargets(of redirectURI: String) -> [String] {
        guard isNative(redirectingTo: redirectURI), let url = URLComponents(string: redirectURI),
            let scheme = url.scheme
        else { return [] }
        guard ["http", "https"].contains(scheme), let host = url.encodedHost else { return ["\(scheme):"] }
        return ["\(scheme)://\(host)\(url.port.map { ":\($0)" } ?? "")"]
    }
}
