internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import OpenID
internal import Pages
internal import ProviderKit

/// Routes for sign-in on a provider's pages, or with a token from a provider's SDK.
extension APIRoutes {
    var redirects: [Endpoint] {
        let path = "/auth/oauth/{provider}"
        return [
            operations.providers.beginRedirect.at(
                .get, path + "/authorize", "Sends a person to a provider's pages; with a bearer, to sign in again",
                takes: .authorization, returns: .authorization, answersHEAD: false),
            operations.providers.beginRedirect.at(
                .post, path + "/authorize", "Where an app sends a browser to sign in; with a bearer, to sign in again",
                takes: .json(AuthorizationBody.self) { (provider: $1["provider"], request: $0.request) },
                returns: .json),
            callback(.get, path + "/callback"),
            callback(.post, path + "/callback"),
            operations.providers.redeemCode.at(
                .post, "/auth/token", "Opens a session with the code that a redirect flow ended with", takes: .json,
                returns: .json),
            operations.providers.signInWithNativeToken.at(
                .post, path + "/token", "Signs in with the ID token that a provider's own SDK gave an app",
                takes: .json(documented: Ticketed<NativeToken>.self) { request in
                    ProviderInput(provider: request["provider"], body: Result { try request.decode() })
                },
                returns: .json),
        ]
    }

    /// The callback for browsers; Apple returns them with a form POST from its own origin, all other providers with a
    /// GET.
    private func callback(_ method: HTTPRequest.Method, _ path: String) -> Endpoint {
        operations.providers.completeRedirect.at(
            method, path, "Takes a person back from a provider's pages",
            takes: .browser(
                method,
                [
                    .init(
                        "state", required: true, help: "The state that the server sent to the provider.",
                        schema: .filledText),
                    .init("code", help: "The provider's authorization code."),
                    .init("error", help: "Why there is no code."),
                ]
            ) { request in
                (
                    request["provider"], Result { RedirectCallback(parameters: try request.fields().values) },
                    request.cookie
                )
            },
            returns: .appRedirect, answersHEAD: false)
    }
}

extension RequestShape<ProviderOperations.Start> {
    fileprivate static var authorization: Self {
        let parameters: [OperationDescription.Parameter] = [
            .init(
                "redirect_uri", required: true, help: "Where the flow ends; one of the registered URIs.",
                schema: .filledText),
            .init(
                "code_challenge", help: "The app's proof key, unless the URI is registered without one.",
                schema: .codeChallenge),
            .init("code_challenge_method", help: "S256.", schema: .enumeration(["S256"])),
            .init("state", help: "Returned unchanged; generated if absent."),
            .init(
                "mode", help: "redirect (the default), or json for an app that opens the browser itself.",
                schema: .enumeration(["redirect", "json"])),
            .init(
                "remember", help: "If false, the session that the flow opens ends after `tokens.shortSessions`.",
                schema: .enumeration(["true", "false"])),
        ]
        return Self(taken: TakenRequest(parameters: parameters)) { request in
            let query = try request.fields()
            var authorization = AuthorizationRequest(
                redirectURI: query["redirect_uri"], codeChallenge: query["code_challenge"],
                codeChallengeMethod: query["code_challenge_method"], state: query["state"],
                isBrowserDriven: try query.isFirst("mode", of: "redirect", or: "json"))
            authorization.opensShortSession = try !query.isFirst("remember", of: "true", or: "false")
            return (request["provider"], authorization)
        }
    }
}

extension FormFields {
    /// Whether a field has the first of its two values, which is the default, and not the second.
    /// - Throws: 400 for any other value.
    fileprivate func isFirst(_ name: String, of first: String, or second: String) throws -> Bool {
        guard let value = self[name], !value.hasSameBytes(as: first) else { return true }
        guard value.hasSameBytes(as: second) else {
            throw APIError(.invalidParameter, "\(name) must be \(first) or \(second)")
        }
        return false
    }
}

extension ResponseShape<AuthorizationRedirect> {
    /// Responds with a redirect if a cookie binds the flow to the browser, otherwise with JSON for an app that opens
    /// the browser itself.
    fileprivate static var authorization: Self {
        Self(responses: [
            .init(
                status: .found, description: "To the provider",
                headers: ["Location": "The provider's page.", "Set-Cookie": "Ties the flow to this browser."]),
            .init(body: AuthorizationRedirect.self, description: "With mode=json"),
        ]) { redirect, context in
            guard redirect.isForBrowser else { return .json(redirect) }
            return .redirect(to: redirect.url, cookie: redirect.cookie, age: FlowCookie.age, in: context)
        }
    }
}

extension ResponseShape<AuthorizationCallback> {
    fileprivate static var appRedirect: Self {
        Self(
            responses: [
                .init(
                    status: .found, description: "To the app's redirect URI, with a code or an error",
                    headers: ["Location": "The redirect URI with code and state, or error and error_description."]),
                .init(status: .seeOther, description: "Back to the page of the server that has sent the person there"),
            ] + .browserErrors, writesError: Response.browserError
        ) { callback, context in
            switch callback.destination {
            case .app(let url): return .redirect(to: url, cookie: callback.expired, age: 0, in: context)
            case .page(let arrived):
                guard let issuer = context.scope.application.openID else { throw AccountsError.invalidState }
                return .page(at: issuer.page(of: arrived.request), ending: callback, in: context)
            case .trial(let provider, let code):
                guard let console = context.scope.site.administration?.console else {
                    throw AccountsError.invalidState
                }
                let name = context.scope.application.application.name
                let page = console.page(ofTrial: provider, in: name, code: code)
                return .page(at: page, ending: callback, in: context)
            }
        }
    }
}

extension Response {
    /// Redirects the browser, and sets the cookie of its flow.
    static func redirect(to url: String, cookie: FlowCookie?, age: Int, in context: OperationContext) -> Response {
        var headers: HTTPFields = [.location: url, .cacheControl: "no-store", .referrerPolicy: "no-referrer"]
        headers[.setCookie] = cookie?.header(age: age, in: context)
        return Response(status: .found, headers: headers)
    }

    /// Redirects the browser to a page of the server, and deletes the cookie of its flow.
    fileprivate static func page(
        at url: String, ending callback: AuthorizationCallback, in context: OperationContext
    ) -> Response {
        var response = Response.seeOther(url)
        response.headers[.setCookie] = callback.expired?.header(age: 0, in: context)
        return response
    }
}

extension FlowCookie {
    /// How long a browser keeps the cookie, in seconds.
    static let age = 600

    /// The value of `Set-Cookie`, with `SameSite=None` because Apple's form comes from another site; with the age 0 it
    /// deletes the cookie.
    func header(age: Int, in context: OperationContext) -> String {
        let scope = context.hasPlainFlows ? "HttpOnly; SameSite=Lax" : "Secure; HttpOnly; SameSite=None"
        return "\(name)=\(value); Path=\(path); Max-Age=\(age); \(scope)"
    }
}

extension OperationContext {
    /// Whether the cookies of redirect flows go without `Secure`: for a time tracking app on the machine of its
    /// developer, who calls a development server without TLS.
    ///
    /// WebKit, in which that app signs people in, drops cookies with `Secure` that come without TLS, even on loopback.
    /// All flows of the application follow the rule, so that a cookie is deleted in the form in which it was set.
    fileprivate var hasPlainFlows: Bool {
        scope.site.isDevelopment && scope.application.dialects.timeTracker != nil
            && ["localhost", "127.0.0.1", "[::1]"].contains(request.request.hostName)
            && !scope.forwarding.isSecure
    }
}
