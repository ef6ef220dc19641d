internal import ProviderKit

extension FetchResponse {
    /// The JSON object in the body.
    /// - Throws: `ProviderError.refused` if the service refused, `.unavailable` for other errors and bodies.
    func document() throws -> JSONValue {
        guard !isRefusal else { throw ProviderError.refused }
        guard isSuccess, let json, json.object != nil else { throw ProviderError.unavailable }
        return json
    }
}

extension HTTPFetching {
    /// Reads a profile with an access token; `nil` if the service refuses.
    /// - Throws: `ProviderError.unavailable`, also if not JSON: incomplete evidence could open a second account.
    func profile(at endpoint: String, with accessToken: String) async throws -> JSONValue? {
        var request = FetchRequest.get(endpoint, bearer: accessToken)
        // GitHub requires a `User-Agent`.
        request.headers["User-Agent"] = "Gatehouse"
        let response = try await fetch(request)
        guard !response.isRefusal else { return nil }
        guard response.isSuccess, let json = response.json else { throw ProviderError.unavailable }
        return json
    }
}

/// The response of a token endpoint (RFC 6749, 5.1; OpenID Connect Core, 3.1.3.3).
struct TokenResponse: Sendable {
    let idToken, accessToken, refreshToken: String?

    /// - Throws: `ProviderError.refused` for an error with status 200, as of GitHub, and if not a bearer token.
    init(_ answer: JSONValue) throws {
        guard answer["error"].isNull,
            answer["token_type"].string.map({ $0.hasSameBytes(ignoringCaseAs: "bearer") }) ?? true
        else { throw ProviderError.refused }
        idToken = answer["id_token"].nonEmpty
        accessToken = answer["access_token"].nonEmpty
        refreshToken = answer["refresh_token"].nonEmpty
    }

    /// The token to store for revocation; `nil` if the service has no revocation endpoint.
    func kept(for revocationEndpoint: String?) -> ProviderTokens? {
        guard revocationEndpoint != nil else { return nil }
        if let refreshToken { return ProviderTokens(refreshToken: refreshToken) }
        return accessToken.map { ProviderTokens(accessToken: $0) }
    }
}

extension JSONValue {
    /// The text, unless it is empty.
    var nonEmpty: String? { string.flatMap { $0.isEmpty ? nil : $0 } }
}
