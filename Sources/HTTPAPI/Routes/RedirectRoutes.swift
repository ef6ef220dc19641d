internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ProviderKit

/// Sign-in through a provider's pages, and with what a provider's own SDK gives an app.
struct RedirectRoutes {
    let useCases: UseCases

    var endpoints: [Endpoint] {
        [authorize, callback(.get), callback(.post), token, nativeToken]
    }

    private var authorize: Endpoint {
        Endpoint(
            method: .get, path: base + "/auth/oauth/{provider}/authorize",
            summary: "Sends a person to a provider's pages; with a bearer, to prove anew who they are",
            access: .optionalBearer,
            query: [
                .init(
                    name: "redirect_uri", isRequired: true, help: "Where the flow ends; one of the registered URIs.",
                    schema: .filledText),
                .init(
                    name: "code_challenge", help: "The app's proof key, unless the URI is registered without one.",
                    schema: .codeChallenge),
                .init(name: "code_challenge_method", help: "S256.", schema: .enumeration(["S256"])),
                .init(name: "state", help: "Comes back unchanged; one is made where it is absent."),
                .init(
                    name: "mode", help: "redirect (the default), or json for an app that opens the browser itself.",
                    schema: .enumeration(["redirect", "json"])),
            ],
            limit: .redirect, answersHEAD: false,
            answer: .init(
                status: .found, body: nil, description: "To the provider",
                headers: ["Location": "The provider's page.", "Set-Cookie": "Ties the flow to this browser."]),
            otherAnswers: [.init(status: .ok, body: AuthorizationRedirectResponse.self, description: "With mode=json")],
            errors: [
                .missingParameter, .invalidParameter, .unauthorizedRequestOrigin, .unsupportedProvider,
                .providerDisabled, .providerUnavailable,
            ]
        ) { context, _ in
            let query = try FormFields(context.query)
            let mode = query["mode"] ?? "redirect"
            let isRedirect = mode.hasSameBytes(as: "redirect")
            guard isRedirect || mode.hasSameBytes(as: "json") else {
                throw APIError(.invalidParameter, "mode must be redirect or json")
            }
            let application = context.application.application
            let redirect = try await useCases.redirects.begin(
                AuthorizationRequest(
                    redirectURI: query["redirect_uri"], codeChallenge: query["code_challenge"],
                    codeChallengeMethod: query["code_challenge_method"], state: query["state"],
                    isBrowserDriven: isRedirect),
                with: application.providers.named(context.provider), by: context.optionalPrincipal, in: application)
            guard isRedirect else {
                return .json(AuthorizationRedirectResponse(url: redirect.url, state: redirect.state))
            }
            return .redirect(to: redirect.url, cookie: redirect.cookie.map { context.setCookie($0) })
        }
    }

    /// Guarded by the state alone: providers send browsers here, Apple by a form from its own origin.
    private func callback(_ method: HTTPRequest.Method) -> Endpoint {
        Endpoint(
            method: method, path: base + "/auth/oauth/{provider}/callback",
            summary: "Takes a person back from a provider's pages", access: .open,
            query: [
                .init(
                    name: "state", isRequired: true, help: "The state that the server sent to the provider.",
                    schema: .filledText),
                .init(name: "code", help: "The provider's authorization code."),
                .init(name: "error", help: "Why there is no code."),
            ],
            isForBrowsers: true, answersHEAD: false,
            answer: .init(
                status: .found, body: nil, description: "To the app's redirect URI, with a code or an error",
                headers: ["Location": "The redirect URI with code and state, or error and error_description."]),
            errors: [.unsupportedProvider, .invalidState, .invalidParameter]
        ) { context, body in
            do {
                try context.application.application.providers.requireRedirecting(context.provider)
                let fields = try FormFields(method == .get ? context.query : String(buffer: body))
                let callback = try await useCases.redirects.answer(
                    RedirectCallback(parameters: fields.values), from: context.provider, cookie: context.cookie,
                    in: context.application.application)
                if let failure = callback.failure {
                    context.log.notice(
                        "A way to a provider came to nothing",
                        metadata: ["provider": "\(context.provider)", "error": "\(failure)"])
                }
                return .redirect(to: callback.url, cookie: callback.cookieName.map { context.clearCookie($0) })
            } catch {
                if APIError(any: error) == nil {
                    context.log.error("Request failed", metadata: ["error": "\(error)"])
                }
                return .page(.strandedFlow, status: .init(code: APIError(any: error)?.code.status ?? 500))
            }
        }
    }

    private var token: Endpoint {
        .post(
            "/auth/token", "Opens a session with the code that a redirect flow ended with",
            takes: CodeBody.self, answers: SessionResponse.self,
            errors: [
                .invalidToken, .invalidState, .providerDisabled, .unsupportedProvider, .accountDisabled,
                .accountDeleted, .secondProofRequired,
            ]
        ) { context, body in
            let application = context.application.application
            return try await useCases.signingIn(with: body.ticket, in: application) {
                try await useCases.redemption.redeem(body.presented, from: context.client, in: application)
            }
        }
    }

    private var nativeToken: Endpoint {
        var endpoint = acceptsNativeToken
        endpoint.limitedProvider = { parameters, _ in parameters.get("provider") }
        return endpoint
    }

    private var acceptsNativeToken: Endpoint {
        .post(
            "/auth/oauth/{provider}/token", "Signs in with the ID token that a provider's own SDK gave an app",
            takes: Ticketed<NativeToken>.self, answers: SessionResponse.self,
            errors: [
                .invalidToken, .providerDisabled, .unsupportedProvider, .accountDisabled, .accountDeleted, .rateLimited,
                .providerUnavailable, .secondProofRequired,
            ]
        ) { context, body in
            let application = context.application.application
            let configured = try application.providers.named(context.provider)
            guard let provider = configured.provider as? any NativeTokenProvider else {
                throw AccountsError.unsupportedProvider(configured.name)
            }
            let evidence = try await provider.verify(body.proof)
            return try await useCases.signingIn(with: body.ticket, in: application) {
                try await useCases.signIn.signIn(with: evidence, of: configured, from: context.client, in: application)
            }
        }
    }
}

extension OperationContext {
    fileprivate var provider: String { parameters.get("provider") ?? "" }

    /// Good for this provider's callback alone.
    ///
    /// Apple's form comes from another site: only `SameSite=None` comes along.
    fileprivate func setCookie(_ cookie: FlowCookie) -> String {
        "\(cookie.name)=\(cookie.value); Path=\(cookiePath); Max-Age=600; Secure; HttpOnly; SameSite=None"
    }

    fileprivate func clearCookie(_ name: String) -> String {
        "\(name)=; Path=\(cookiePath); Max-Age=0; Secure; HttpOnly; SameSite=None"
    }

    /// With the public URL's own path, which a proxy may have cut off by now.
    private var cookiePath: String {
        URLComponents(string: application.application.callbackURL(of: provider))?.path ?? "/"
    }

    fileprivate func cookie(_ name: String) -> String? {
        for pair in headers[values: .cookie].flatMap({ $0.utf8.split(separator: UInt8(ascii: ";")) }) {
            let pair = pair.drop { $0 == UInt8(ascii: " ") }
            let ownName = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = pair[ownName.endIndex...].dropFirst()
            if !value.isEmpty, ownName.elementsEqual(name.utf8) { return String(Substring(value)) }
        }
        return nil
    }
}

extension Response {
    fileprivate static func redirect(to url: String, cookie: String?) -> Response {
        var headers: HTTPFields = [.location: url, .cacheControl: "no-store", .referrerPolicy: "no-referrer"]
        headers[.setCookie] = cookie
        return Response(status: .found, headers: headers)
    }
}
