internal import Accounts
internal import OpenID
internal import Pages
internal import ProviderKit

extension Issuer {
    /// The provider's metadata (OpenID Connect Discovery, 3; RFC 8414, 2), which lists only what the server does.
    var metadata: [UInt8] {
        func place(_ endpoint: Endpoint) -> JSONValue { .string(url(of: endpoint)) }
        func list(_ words: [String]) -> JSONValue { .array(words.map { .string($0) }) }
        func words<Word: RawRepresentable<String>>(_ values: [Word]) -> JSONValue { list(values.map(\.rawValue)) }
        let methods = words(ClientMetadata.AuthenticationMethod.allCases)
        let algorithms = words(ClientAuthentication.algorithms)
        let members: [String: JSONValue] = [
            "issuer": .string(url), "authorization_endpoint": place(.authorization),
            "token_endpoint": place(.token), "userinfo_endpoint": place(.userInfo),
            "jwks_uri": place(.keys),
            "pushed_authorization_request_endpoint": place(.pushedRequests),
            "introspection_endpoint": place(.introspection), "revocation_endpoint": place(.revocation),
            "end_session_endpoint": place(.logout),
            "backchannel_logout_supported": .bool(true), "backchannel_logout_session_supported": .bool(true),
            "scopes_supported": list(scopes), "response_types_supported": list(["code"]),
            "response_modes_supported": words(ReturnAddress.Mode.allCases),
            "grant_types_supported": list(grants),
            "subject_types_supported": words(OAuthClient.SubjectType.allCases),
            "id_token_signing_alg_values_supported": words([application.policy.tokens.algorithm]),
            "acr_values_supported": list(["1"]),
            "token_endpoint_auth_methods_supported": methods,
            "introspection_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_methods_supported": methods,
            "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
            "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
            "code_challenge_methods_supported": list(["S256"]),
            "prompt_values_supported": words(ClientRequest.Prompt.allCases),
            "ui_locales_supported": words(PageLanguage.allCases),
            "claims_supported": list(Self.claims), "claims_parameter_supported": .bool(true),
            "request_parameter_supported": .bool(false), "request_uri_parameter_supported": .bool(false),
            "require_pushed_authorization_requests": .bool(false),
            "authorization_response_iss_parameter_supported": .bool(true),
        ]
        let links = [
            "op_policy_uri": settings.pages.privacy, "op_tos_uri": settings.pages.terms,
            "registration_endpoint": settings.takesRegistrations ? url(of: .registration) : nil,
            "device_authorization_endpoint": settings.hasDevices ? url(of: .device) : nil,
        ].compactMapValues { $0.map { JSONValue.string($0) } }
        return members.merging(links) { $1 }.sortedJSON
    }

    /// The scopes that some client may have; apps of Blitz know `qr` by another name.
    private var scopes: [String] {
        settings.publishedScopes.map { place == .blitz && $0 == StandardScope.qr.rawValue ? "blitz_qr_auth" : $0 }
    }

    /// The grants that some client may have.
    private var grants: [String] {
        OAuthClient.Grant.allCases.map(\.rawValue).filter { name in
            name != OAuthClient.Grant.deviceCode.rawValue || settings.hasDevices
        }
    }

    private static let claims = [
        "sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", "name", "locale", "updated_at",
        "email", "email_verified", "phone_number", "phone_number_verified", "aliases",
    ]
}
