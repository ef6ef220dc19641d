public import ProviderKit

extension OAuth2Provider {
    /// A client's registration with the service, and the service's endpoints.
    public struct Settings: ProviderSettings {
        var authorizationEndpoint, tokenEndpoint, userInfoEndpoint: String
        var emailsEndpoint: String?
        var clientID, clientSecret: String
        var clientAuthentication: String?
        var pkce: Bool?
        var scopes: [String]?
        var trustEmail: Bool?
        var claims: [String: String?]
        var authorizationParameters: [String: String?]?
        var forward: [String]?

        /// The schema; all endpoints are required, because OAuth 2.0 services have no discovery document.
        public static let schema = SettingsSchema([
            SettingField("authorizationEndpoint", .url, required: true, help: "The URL that people are sent to."),
            SettingField("tokenEndpoint", .url, required: true, help: "The URL that exchanges a code for a token."),
            SettingField("userInfoEndpoint", .url, required: true, help: "The URL of the profile."),
            SettingField(
                "emailsEndpoint", .url,
                help: "The URL of a list of addresses with email, primary and verified, as at GitHub."),
            SettingField("clientID", .text, required: true, help: "The client id at the service."),
            SettingField("clientSecret", .secret, required: true, help: "The client secret at the service."),
            SettingField(
                "clientAuthentication", .choice(ClientAuthentication.allCases.map(\.rawValue)),
                help: "Whether id and secret are sent in the header or in the form. Default: basic."),
            SettingField("pkce", .flag, help: "Sends a proof key (RFC 7636). Default: true."),
            SettingField("scopes", .texts, help: "The scopes to request."),
            SettingField(
                "trustEmail", .flag, help: "Accepts the service's claim that an address is verified. Default: false."),
            SettingField(
                "claims", .map, required: true, help: "Paths in the profile, by our names. providerUid is required."),
            .authorizationParameters, .forward,
        ])
    }
}
