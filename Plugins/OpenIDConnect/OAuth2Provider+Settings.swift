public import ProviderKit

extension OAuth2Provider {
    /// A client's registration with the service, and where the service's endpoints are.
    public struct Settings: ProviderSettings {
        /// Where people go.
        public var authorizationEndpoint: String
        /// Where codes are exchanged.
        public var tokenEndpoint: String
        /// Where the profile is.
        public var userInfoEndpoint: String
        /// Where a list of addresses is, each with `email`, `primary` and `verified`; the profile's is not taken then.
        public var emailsEndpoint: String?
        /// Ours with the service.
        public var clientID: String
        /// Ours with the service.
        public var clientSecret: String
        /// `basic` or `post`.
        public var clientAuthentication: String?
        /// Whether a proof key is sent.
        public var pkce: Bool?
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
            SettingField(
                "emailsEndpoint", .url,
                help: "Where a list of addresses with email, primary and verified is, as GitHub has it."),
            SettingField("clientID", .text, required: true, help: "The client id that the service gave."),
            SettingField("clientSecret", .secret, required: true, help: "The client secret that the service gave."),
            SettingField(
                "clientAuthentication", .choice(ClientAuthentication.allCases.map(\.rawValue)),
                help: "Whether id and secret go in the header or in the form. Default: basic."),
            SettingField("pkce", .flag, help: "Sends a proof key (RFC 7636). Default: true."),
            SettingField("scopes", .texts, help: "What to ask for."),
            SettingField(
                "trustEmail", .flag, help: "Takes the service's word that an address is verified. Default: false."),
            SettingField(
                "claims", .map, required: true, help: "Paths in the profile, by our names; providerUid is needed."),
        ])
    }
}
