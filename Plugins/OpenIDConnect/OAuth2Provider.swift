public import ProviderKit

/// Any OAuth 2.0 service that tells who somebody is, without being an OpenID Connect provider.
///
/// The settings are complete; the flow comes with the other delegated providers.
public struct OAuth2Provider: Provider {
    /// A client's registration with the service, and where the service's endpoints are.
    public struct Settings: ProviderSettings {
        /// Where people go.
        public var authorizationEndpoint: String
        /// Where codes are exchanged.
        public var tokenEndpoint: String
        /// Where the profile is.
        public var userInfoEndpoint: String
        /// Ours with the service.
        public var clientID: String
        /// Ours with the service.
        public var clientSecret: String
        /// What is asked for.
        public var scopes: [String]?
        /// Whether its word on addresses is taken.
        public var trustEmail: Bool?
        /// Our names of claims to paths in the profile.
        public var claims: [String: String?]

        /// Without discovery, everything must be said.
        public static let schema = SettingsSchema([
            SettingField("authorizationEndpoint", .url, required: true, help: "Where people are sent to."),
            SettingField("tokenEndpoint", .url, required: true, help: "Where a code is exchanged for a token."),
            SettingField("userInfoEndpoint", .url, required: true, help: "Where the profile is read with the token."),
            SettingField("clientID", .text, required: true, help: "The client id that the service gave."),
            SettingField("clientSecret", .secret, required: true, help: "The client secret that the service gave."),
            SettingField("scopes", .texts, help: "What to ask for."),
            SettingField(
                "trustEmail", .flag, help: "Takes the service's word that an address is verified. Default: false."),
            SettingField(
                "claims", .map, required: true, help: "Paths in the profile, by our names; providerUid is needed."),
        ])
    }

    /// `oauth2`.
    public static let kind = "oauth2"
    /// What a button says, where the settings name nothing better.
    public static let displayName = "OAuth 2.0"
    /// Through the service's pages.
    public static let flow = ProviderFlow.redirect

    /// Takes any settings that decode.
    public init(settings: Settings, context: ProviderContext) {}
}
