public import ProviderKit

extension CustomTokenProvider {
    /// Whose tokens are taken, and under which keys.
    public struct Settings: ProviderSettings {
        /// `iss` of the tokens.
        public var issuer: String
        /// `aud` of the tokens.
        public var audience: String
        /// A JWK Set, usually `file:PATH`.
        public var jwks: String?
        /// Where a JWK Set is.
        public var jwksURL: String?
        /// A public key in PEM.
        public var publicKey: String?
        /// Algorithms that a token may be signed with.
        public var algorithms: [String]
        /// In seconds, from `iat` on.
        public var maximumAge: Int?
        /// Whether its word on e-mail addresses is taken.
        public var trustEmail: Bool?
        /// Our names of claims to theirs.
        public var claims: [String: String?]?

        /// Exactly one of the three ways to name keys is needed.
        public static let schema = SettingsSchema([
            SettingField("issuer", .text, required: true, help: "The issuer, as in its tokens."),
            SettingField("audience", .text, required: true, help: "The audience, as in its tokens."),
            SettingField("jwks", .secret, help: "The keys as a JWK Set, usually file:PATH."),
            SettingField("jwksURL", .url, help: "Where the keys are, as a JWK Set."),
            SettingField("publicKey", .secret, help: "The one key in PEM, usually file:PATH."),
            SettingField(
                "algorithms", .texts, required: true,
                help: "Signature algorithms that are taken, as RS256 or ES256; none with a shared secret."),
            SettingField("maximumAge", .duration, help: "How old a token may be. Default: 5m."),
            SettingField(
                "trustEmail", .flag, help: "Takes the issuer's word that an address is verified. Default: false."),
            SettingField(
                "claims", .map,
                help: "Names or dotted paths of the issuer's claims, by ours; nothing switches a claim off."),
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
                throw SettingsError(setting: keys[1].1, reason: "stands beside \(first.1); only one of them may")
            }
            return first
        }

        func allowedAlgorithms() throws -> Set<TokenRules.Algorithm> {
            let allowed = try algorithms.map { name in
                guard let algorithm = TokenRules.Algorithm(rawValue: name) else {
                    let known = TokenRules.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
                    throw SettingsError(
                        setting: "algorithms", reason: "takes signatures with a public key alone: \(known)")
                }
                return algorithm
            }
            guard !allowed.isEmpty else { throw SettingsError(setting: "algorithms", reason: "names none") }
            return Set(allowed)
        }

        func age() throws -> Duration {
            guard maximumAge ?? 1 > 0 else {
                throw SettingsError(setting: "maximumAge", reason: "leaves a token no time at all")
            }
            return .seconds(maximumAge ?? 300)
        }
    }
}
