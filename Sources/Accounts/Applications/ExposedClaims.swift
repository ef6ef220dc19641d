package import ProviderKit

/// The claims of a provider's profile that `auth` and access tokens carry.
package enum ExposedClaims {
    /// Of all exposed claims of a token, as one JSON object: a client sends the token with each request.
    static let largestSize = 2048

    /// Names of claims that are the server's own, in `auth` or in an access token.
    package static let reserved: Set<String> = [
        "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "sid", "auth_time", "amr", "scope", "client_id", "cnf", "act",
        "uid", "provider", "providerUid", "email", "email_verified", "phone", "phone_verified", "createdAt", "expires",
        "displayName",
    ]

    /// The claims of those names, in the order of the names, without any that no longer fits.
    static func chosen(_ names: [String], from profile: [String: JSONValue]) -> [String: JSONValue] {
        var chosen: [String: JSONValue] = [:]
        var written = JSONObjectWriter()
        for name in names where chosen[name] == nil {
            guard let value = profile[name] else { continue }
            var longer = written
            longer.add(name, value)
            guard longer.object.count <= largestSize else { continue }
            written = longer
            chosen[name] = value
        }
        return chosen
    }
}
