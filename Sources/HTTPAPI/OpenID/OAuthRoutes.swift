internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import OpenID
internal import ProviderKit

/// The endpoints of OpenID clients (OpenID Connect Core; RFC 6749, 7009, 7662, 8414, 8628, 9126), for one of the issuers
/// that applications have.
struct OAuthRoutes {
    let operations: OAuthOperations
    let place: Issuer.Place

    private static let client: [OperationDescription.Parameter] = [
        .init("client_id", help: "The client, unless Authorization: Basic names it."),
        .init("client_secret", help: "The client's secret, if it has one and sends no Authorization."),
        .init("client_assertion_type", help: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer."),
        .init("client_assertion", help: "A JWT that the client has signed (RFC 7523)."),
    ]

    /// What a client asks for, also in a pushed request.
    private static let authorization: [OperationDescription.Parameter] = [
        .init("redirect_uri", help: "Where the answer goes; one of the client's."),
        .init("response_type", help: "code."), .init("response_mode", help: "query or form_post."),
        .init("scope", help: "What the client asks for."),
        .init(
            "resource", help: "A service that the tokens are for (RFC 8707); it may be repeated.",
            schema: .array(of: .string)),
        .init("state", help: "Returned unchanged."), .init("nonce", help: "Returned in the ID token."),
        .init("code_challenge", help: "The client's proof key."), .init("code_challenge_method", help: "S256."),
        .init("prompt", help: "none, login, consent, select_account or create."),
        .init("max_age", help: "How many seconds ago the person may have authenticated."),
        .init("login_hint", help: "The address of the person who shall sign in."),
        .init("id_token_hint", help: "An ID token of the person who shall sign in."),
        .init("claims", help: "The claims that the client asks for, in JSON (OpenID Connect Core, 5.5)."),
        .init("acr_values", help: "Levels of authentication."),
        .init("access_type", help: "offline or online: adds the scope offline_access, or leaves it out."),
        .init("ui_locales", help: "The languages of the pages."),
        .init(
            "provider",
            help: """
                A provider with pages of its own, to which a person who is not signed in is sent at once. Any other \
                name is ignored.
                """),
    ]

    var endpoints: [Endpoint] {
        discovery + [authorize(.get), authorize(.post), push, device, token] + inspection
            + [logout(.get), logout(.post)] + (place == .plain ? grants : [])
    }

    private var discovery: [Endpoint] {
        var paths = [place.path(of: .discovery), place.path(of: .metadata)]
        // An issuer with a path has its metadata in front of the path, too (RFC 8414, 3).
        if !place.base.isEmpty { paths.append(Issuer.Endpoint.metadata.rawValue + place.base) }
        return paths.map { path in
            .open(
                path, "The OpenID provider's metadata",
                takes: TakenRequest(isOfOpenID: true, place: place, origins: .all)
            ) { context in
                .bytes(
                    context.scope.application.metadata(at: place), type: "application/json",
                    cache: "public, max-age=300")
            }
        }
    }

    private func authorize(_ method: HTTPRequest.Method) -> Endpoint {
        operations.authorize.at(
            method, .authorization, of: place, "Sends a person to sign in to a client",
            takes: .issuer(
                method,
                [.init("client_id", required: true, help: "The client.")] + Self.authorization + [
                    .init("request_uri", help: "A pushed request, instead of all others but client_id.")
                ], OAuthOperations.BrowserParameters.init), returns: .authorization, answersHEAD: false)
    }

    private var push: Endpoint {
        operations.push.at(
            .post, .pushedRequests, of: place, "Stores an authorization request that the client sends itself",
            takes: .oauth(Self.authorization + Self.client),
            returns: .oauth(status: .created) { pushed in
                ["request_uri": .string(pushed.requestURI), "expires_in": .integer(Int64(pushed.expiresIn))]
            })
    }

    private var device: Endpoint {
        operations.device.at(
            .post, .device, of: place, "Gives a device a code, which a person types at the page of devices",
            takes: .oauth(
                [
                    .init("scope", help: "What the client asks for; all that it may have if absent."),
                    .init(
                        "resource", help: "A service that the tokens are for; it may be repeated.",
                        schema: .array(of: .string)),
                ] + Self.client, servedBy: { $0.settings.hasDevices }),
            returns: .oauth { started in
                [
                    "device_code": .string(started.deviceCode), "user_code": .string(started.userCode.text),
                    "verification_uri": .string(started.page),
                    "verification_uri_complete": .string("\(started.page)?user_code=\(started.userCode.text)"),
                    "expires_in": .integer(Int64(started.expiresIn)), "interval": .integer(Int64(started.interval)),
                ]
            })
    }

    private var token: Endpoint {
        operations.token.at(
            .post, .token, of: place, "Exchanges a code, a refresh token or a client's secret for tokens",
            takes: .oauth(
                [
                    .init(
                        "grant_type", required: true,
                        help: """
                            authorization_code, refresh_token, client_credentials or \
                            urn:ietf:params:oauth:grant-type:device_code.
                            """),
                    .init("code", help: "The code."), .init("device_code", help: "The device's code (RFC 8628)."),
                    .init("redirect_uri", help: "As at the authorization endpoint."),
                    .init("code_verifier", help: "The verifier of the code's challenge."),
                    .init("refresh_token", help: "The refresh token."), .init("scope", help: "Fewer scopes."),
                    .init("resource", help: "The service that the token is for."),
                ] + Self.client),
            returns: .oauth { answer in
                var members: [String: JSONValue] = [
                    "access_token": .string(answer.accessToken), "token_type": .string("Bearer"),
                    "expires_in": .integer(Int64(answer.expiresIn)), "scope": .string(answer.scope),
                ]
                members["id_token"] = answer.identityToken.map { .string($0) }
                members["refresh_token"] = answer.refreshToken.map { .string($0) }
                members["css"] = answer.nativeSecret.map { .string($0) }
                return members
            })
    }

    private var inspection: [Endpoint] {
        let token: [OperationDescription.Parameter] =
            [
                .init("token", required: true, help: "The token."),
                .init("token_type_hint", help: "access_token or refresh_token; not needed."),
            ] + Self.client
        return [
            operations.introspect.at(
                .post, .introspection, of: place, "Tells a client about a token",
                takes: .oauth(token, for: .none), returns: .oauth { $0 }),
            operations.revoke.at(
                .post, .revocation, of: place, "Ends the session of a client's token", takes: .oauth(token),
                returns: ResponseShape(responses: [.init()] + .oauthErrors, writesError: Response.oauthError) { _, _ in
                    Response(status: .ok)
                }),
            userInfo(.get), userInfo(.post),
        ]
    }

    private func logout(_ method: HTTPRequest.Method) -> Endpoint {
        operations.logout.at(
            method, .logout, of: place, "Signs a person out of the browser",
            takes: .issuer(
                method,
                [
                    .init("id_token_hint", help: "An ID token of the session that ends; without one, a page asks."),
                    .init("client_id", help: "The client of the ID token."),
                    .init("post_logout_redirect_uri", help: "Where the person goes then; one of the client's."),
                    .init("state", help: "Returned unchanged."),
                    .init("ui_locales", help: "The languages of the page that asks."),
                ], OAuthOperations.BrowserParameters.init),
            returns: .logout, answersHEAD: false)
    }

    private var grants: [Endpoint] {
        let operations = GrantOperations(grants: operations.useCases.clientGrants)
        return [
            operations.list.at(
                .get, "/auth/grants", "What the account has given OpenID clients",
                takes: .nothing.at(.plain), returns: .json),
            operations.revoke.at(
                .delete, "/auth/grants/{clientId}", "Takes back what the account has given a client",
                takes: RequestShape { $0["clientId"].removingPercentEncoding ?? "" }.at(.plain), returns: .empty()),
            NativeOperations(native: self.operations.useCases.native).issue.at(
                .post, "/auth/native",
                "A one-time secret, with which the app signs its account in at a browser that it shows",
                takes: .nothing.at(.plain), returns: .json),
        ]
    }

    private func userInfo(_ method: HTTPRequest.Method) -> Endpoint {
        operations.userInfo.at(
            method, .userInfo, of: place, "The claims about the account of an access token",
            takes: .oauth(
                method == .post ? [.init("access_token", help: "The access token, unless Authorization has it.")] : [],
                hasBody: method == .post),
            returns: ResponseShape(
                responses: [.init(contentType: "application/json")]
                    + .oauthErrors.filter { $0.status != .tooManyRequests },
                writesError: Response.oauthError
            ) { claims, _ in
                // RFC 6750, 3: without a token the challenge has no error.
                guard let claims else {
                    return .json(
                        OAuthErrorPayload(error: OAuthError(.invalidToken, "An access token is missing")),
                        status: .unauthorized, headers: [.wwwAuthenticate: "Bearer"])
                }
                return .oauth(claims)
            })
    }
}

extension ResponseShape {
    /// Responds with a JSON object, and with errors in the form of RFC 6749.
    fileprivate static func oauth(
        status: HTTPResponse.Status = .ok, _ members: @escaping @Sendable (Output) -> [String: JSONValue]
    ) -> Self {
        Self(
            responses: [.init(status: status, contentType: "application/json")] + .oauthErrors,
            writesError: Response.oauthError
        ) { output, _ in .oauth(members(output), status: status) }
    }
}

extension Response {
    static func oauth(_ members: [String: JSONValue], status: HTTPResponse.Status = .ok) -> Response {
        .json(written: ByteBuffer(bytes: members.sortedJSON), status: status)
    }
}

extension [String: JSONValue] {
    /// An object in JSON, with its members in the order of their names.
    var sortedJSON: [UInt8] {
        var writer = JSONObjectWriter()
        for (name, value) in sorted(by: { $0.key < $1.key }) { writer.add(name, value) }
        return writer.finished()
    }
}
