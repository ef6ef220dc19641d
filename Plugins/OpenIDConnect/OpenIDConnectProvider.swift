public import ProviderKit

/// Any OpenID Connect provider, from its issuer alone.
///
/// The settings are complete; the flow comes with the other delegated providers.
public struct OpenIDConnectProvider: Provider {
    /// A client's registration with the issuer.
    public struct Settings: ProviderSettings {
        /// `iss` of its tokens, and where its discovery document is.
        public var issuer: String
        /// Ours with the issuer.
        public var clientID: String
        /// Ours with the issuer.
        public var clientSecret: String?
        /// `openid` is always asked for.
        public var scopes: [String]?
        /// Whether its word on addresses is taken.
        public var trustEmail: Bool?
        /// Google Workspace domains that may sign in.
        public var hostedDomains: [String]?
        /// Microsoft tenants that may sign in.
        public var tenants: [String]?
        /// Our names of claims to theirs.
        public var claims: [String: String?]?
        /// `required`, `optional` or `off`.
        public var nonce: String?

        /// Issuer and client id are enough for a public client.
        public static let schema = SettingsSchema([
            SettingField("issuer", .url, required: true, help: "The issuer, as in its tokens."),
            SettingField("clientID", .text, required: true, help: "The client id that the issuer gave."),
            SettingField("clientSecret", .secret, help: "The client secret that the issuer gave."),
            SettingField("scopes", .texts, help: "Scopes beside openid. Default: email, profile."),
            SettingField(
                "trustEmail", .flag, help: "Takes the issuer's word that an address is verified. Default: false."),
            SettingField("hostedDomains", .texts, help: "Only these hosted domains (claim hd) may sign in."),
            SettingField("tenants", .texts, help: "Only these tenants (claim tid) may sign in."),
            SettingField("claims", .map, help: "Names of the issuer's claims, by ours."),
            SettingField(
                "nonce", .choice(["required", "optional", "off"]), help: "Whether a token's nonce is checked."),
        ])
    }

    /// `oidc`.
    public static let kind = "oidc"
    /// What a button says, where the settings name nothing better.
    public static let displayName = "OpenID Connect"
    /// Through the issuer's pages.
    public static let flow = ProviderFlow.redirect

    /// Takes any settings that decode.
    public init(settings: Settings, context: ProviderContext) {}
}
