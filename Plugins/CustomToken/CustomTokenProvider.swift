public import ProviderKit

/// Signed tokens of an application's own legacy system.
///
/// The settings are complete; verification comes with the other delegated providers.
public struct CustomTokenProvider: Provider {
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
        /// Whether its word on addresses is taken.
        public var trustEmail: Bool?
        /// Our names of claims to theirs.
        public var claims: [String: String?]?

        /// One of the three ways to name keys is needed.
        public static let schema = SettingsSchema([
            SettingField("issuer", .text, required: true, help: "The issuer, as in its tokens."),
            SettingField("audience", .text, required: true, help: "The audience, as in its tokens."),
            SettingField("jwks", .secret, help: "The keys as a JWK Set, usually file:PATH."),
            SettingField("jwksURL", .url, help: "Where the keys are, as a JWK Set."),
            SettingField("publicKey", .secret, help: "The one key in PEM, usually file:PATH."),
            SettingField("algorithms", .texts, required: true, help: "Signature algorithms that are taken."),
            SettingField("maximumAge", .duration, help: "How old a token may be. Default: 5m."),
            SettingField(
                "trustEmail", .flag, help: "Takes the issuer's word that an address is verified. Default: false."),
            SettingField("claims", .map, help: "Names of the issuer's claims, by ours."),
        ])
    }

    /// `custom-token`.
    public static let kind = "custom-token"
    /// What a button says, where the settings name nothing better.
    public static let displayName = "Existing account"

    /// Takes any settings that decode.
    public init(settings: Settings, context: ProviderContext) {}
}
