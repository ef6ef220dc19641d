internal import ProviderKit

/// What a token endpoint gave for a code (RFC 6749, 5.1; OpenID Connect Core, 3.1.3.3).
struct TokenResponse: Sendable {
    let idToken: String?
    let accessToken: String?
    let refreshToken: String?

    /// - Throws: `ProviderError.refused` for an error that comes as a success, as GitHub's do, and for an access token
    ///   that is no bearer token.
    init(_ answer: JSONValue) throws {
        guard answer["error"].isNull,
            answer["token_type"].string.map({ $0.hasSameBytes(ignoringCaseAs: "bearer") }) ?? true
        else {
            throw ProviderError.refused
        }
        idToken = answer["id_token"].nonEmpty
        accessToken = answer["access_token"].nonEmpty
        refreshToken = answer["refresh_token"].nonEmpty
    }

    /// What is worth keeping: nothing acts for the person here, so only what has to be given back one day.
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
