internal import ProviderKit

/// A known OAuth 2.0 service, for which the configuration needs only a client id and a secret.
struct OAuth2Preset: ProviderPreset {
    let kind, displayName, authorizationEndpoint, tokenEndpoint, userInfoEndpoint: String
    var emailsEndpoint: String?
    var clientAuthentication = ClientAuthentication.basic
    let scopes: [String]
    /// The paths of claims in the profile, without those claims that are not reliable at this service.
    let claims: [String: String]

    var schema: SettingsSchema {
        SettingsSchema([
            SettingField("clientID", .text, required: true, help: "The client id at \(displayName)."),
            SettingField("clientSecret", .secret, required: true, help: "The client secret at \(displayName)."),
            SettingField("scopes", .texts, help: "The scopes to request. Default: \(scopes.joined(separator: ", "))."),
            .trustEmail, .claims, .authorizationParameters, .forward,
            SettingField("baseURL", .url, help: "A URL that replaces the hosts of all endpoints, for tests."),
        ])
    }

    func provider(_ settings: OAuth2PresetSettings, context: ProviderContext) throws -> OAuth2Provider {
        let base = settings.baseURL?.withoutTrailingSlash
        let settings = OAuth2Provider.Settings(
            authorizationEndpoint: authorizationEndpoint.moved(to: base), tokenEndpoint: tokenEndpoint.moved(to: base),
            userInfoEndpoint: userInfoEndpoint.moved(to: base), emailsEndpoint: emailsEndpoint?.moved(to: base),
            clientID: settings.clientID, clientSecret: settings.clientSecret,
            clientAuthentication: clientAuthentication.rawValue, pkce: nil, scopes: settings.scopes ?? scopes,
            trustEmail: settings.trustEmail,
            claims: claims.mapValues { Optional($0) }.merging(settings.claims ?? [:]) { $1 },
            authorizationParameters: settings.authorizationParameters, forward: settings.forward)
        return try OAuth2Provider(settings: settings, context: context)
    }
}

/// The settings of all presets.
struct OAuth2PresetSettings: Decodable, Sendable {
    var clientID, clientSecret: String
    var scopes: [String]?
    var trustEmail: Bool?
    var claims: [String: String?]?
    var authorizationParameters: [String: String?]?
    var forward: [String]?
    var baseURL: String?
}

extension String {
    var withoutTrailingSlash: String { hasSuffix("/") ? String(dropLast()) : self }

    /// The URL with the scheme and host of `base`, or unchanged if `base` is `nil`.
    fileprivate func moved(to base: String?) -> String {
        guard let base, let scheme = firstRange(of: "://") else { return self }
        return base + self[scheme.upperBound...].drop { $0 != "/" }
    }
}
