public import ProviderKit

extension CustomTokenProvider {
    /// The issuer of the tokens and its keys.
    public struct Settings: ProviderSettings {
        var issuer, audience: String
        var jwks, jwksURL, publicKey: String?
        var algorithms: [String]
        /// The maximum age of a token in seconds.
        var maximumAge: Int?
        var trustEmail: Bool?
        var claims: [String: String?]?

        /// The schema; exactly one of `jwks`, `jwksURL` and `publicKey` is required.
        public static let schema = SettingsSchema([
            SettingField("issuer", .text, required: true, help: "The issuer, as in its tokens."),
            SettingField("audience", .text, required: true, help: "The audience, as in its tokens."),
            SettingField("jwks", .secret, help: "The keys as a JWK Set, usually file:PATH."),
            SettingField("jwksURL", .url, help: "The URL of the keys, as a JWK Set."),
            SettingField("publicKey", .secret, help: "A single key in PEM, usually file:PATH."),
            SettingField(
                "algorithms", .texts, required: true,
                help: "The signature algorithms to accept, such as RS256 or ES256, but none with a shared secret."),
            SettingField("maximumAge", .duration, help: "The maximum age of a token, from `iat` on. Default: 5m."),
            SettingField(
                "trustEmail", .flag, help: "Accepts the issuer's claim that an address is verified. Default: false."),
            SettingField(
                "claims", .map,
                help: "Names or dotted paths of the issuer's claims, by ours. Nothing switches a claim off."),
        ])

        func keys() throws -> (value: TokenKeys, setting: String) {
            let given: [(TokenKeys, String)?] = [
                jwks.map { (.set($0), "jwks") }, jwksURL.map { (.published(url: $0), "jwksURL") },
                publicKey.map { (.pem($0), "publicKey") },
            ]
            let keys = given.compactMap { $0 }
            guard let first = keys.first else {
                throw SettingsError(setting: "jwks", reason: "is missing: one of jwks, jwksURL and publicKey is needed")
            }
            guard keys.count == 1 else {
                throw SettingsError(setting: keys[1].1, reason: "can't be combined with \(first.1)")
            }
            return first
        }

        func allowedAlgorithms() throws -> Set<TokenRules.Algorithm> {
            let allowed = try algorithms.map { name in
                guard let algorithm = TokenRules.Algorithm(rawValue: name) else {
                    let known = TokenRules.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
                    throw SettingsError(
                        setting: "algorithms", reason: "accepts only signatures with a public key: \(known)")
                }
                return algorithm
            }
            guard !allowed.isEmpty else { throw SettingsError(setting: "algorithms", reason: "is empty") }
            return Set(allowed)
        }

        func age() throws -> Duration {
            guard maximumAge ?? 1 > 0 else {
                throw SettingsError(setting: "maximumAge", reason: "must be longer than 0")
            }
            return .seconds(maximumAge ?? 300)
        }
    }
}
