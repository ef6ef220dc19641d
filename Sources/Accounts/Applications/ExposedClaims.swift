internal import ProviderKit

/// The claims of a provider's profile that `auth` and access tokens contain.
package enum ExposedClaims {
    /// The size limit of all exposed claims as a JSON object, since clients send the token with each request.
    static let largestSize = 2048

    /// Names of claims that the server itself writes to `auth` or to access tokens.
    package static let reserved: Set<String> = [
        "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "sid", "auth_time", "amr", "scope", "client_id", "cnf", "act",
        "uid", "provider", "providerUid", "email", "email_verified", "phone", "phone_verified", "createdAt", "expires",
        "sessionExpires", "displayName", "roles", "claims",
    ]

    /// Selects claims by name in the given order, and skips those that exceed the size limit.
    static func chosen(_ names: [String], from profile: [String: JSONValue]) -> [String: JSONValue] {
        var chosen: [String: JSONValue] = [:]
        var written = JSONObjectWriter()
        for name in names where chosen[name] == nil {
            guard let value = profile[name] else { continue }
            var longer = written
            longer.add(name, value)
            guard longer.finished().count <= largestSize else { continue }
            written = longer
            chosen[name] = value
        }
        return chosen
    }
}
