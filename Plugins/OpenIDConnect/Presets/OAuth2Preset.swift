internal import ProviderKit

/// A known OAuth 2.0 service that needs only an id and a secret.
struct OAuth2Preset: Sendable {
    let kind: String
    let displayName: String
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let userInfoEndpoint: String
    var emailsEndpoint: String?
    var clientAuthentication = ClientAuthentication.basic
    let scopes: [String]
    /// Paths of claims in the profile; claims that the service does not state reliably are absent.
    let claims: [String: String]

    var schema: SettingsSchema {
        SettingsSchema([
            SettingField("clientID", .text, required: true, help: "The client id at \(displayName)."),
            SettingField("clientSecret", .secret, required: true, help: "The client secret at \(displayName)."),
            SettingField(
                "scopes", .texts, help: "The scopes to request. Default: \(scopes.joined(separator: ", "))."),
            .trustEmail, .claims,
            SettingField(
                "baseURL", .url, help: "A URL that replaces the hosts of all endpoints, for tests."),
        ])
    }

    /// The settings of an `OAuth2Provider` for this service.
    func settings(_ settings: OAuth2PresetSettings) -> OAuth2Provider.Settings {
        let base = settings.baseURL?.withoutTrailingSlash
        return OAuth2Provider.Settings(
            authorizationEndpoint: authorizationEndpoint.moved(to: base), tokenEndpoint: tokenEndpoint.moved(to: base),
            userInfoEndpoint: userInfoEndpoint.moved(to: base), emailsEndpoint: emailsEndpoint?.moved(to: base),
            clientID: settings.clientID, clientSecret: settings.clientSecret,
            clientAuthentication: clientAuthentication.rawValue, pkce: nil, scopes: settings.scopes ?? scopes,
            trustEmail: settings.trustEmail,
            claims: claims.mapValues { Optional($0) }.merging(settings.claims ?? [:]) { $1 })
    }
}

/// The settings of all presets.
struct OAuth2PresetSettings: Decodable, Sendable {
    var clientID: String
    var clientSecret: String
    var scopes: [String]?
    var trustEmail: Bool?
    var claims: [String: String?]?
    var baseURL: String?
}

/// A type for each preset, because each kind of provider is a type.
protocol OAuth2Service: Sendable {
    static var preset: OAuth2Preset { get }
}

/// An `OAuth2Provider` with the settings of a preset.
struct ReadyOAuth2<Service: OAuth2Service>: RedirectProvider {
    struct Settings: ProviderSettings {
        let values: OAuth2PresetSettings

        init(from decoder: any Decoder) throws { values = try OAuth2PresetSettings(from: decoder) }

        static var schema: SettingsSchema { Service.preset.schema }
    }

    static var kind: String { Service.preset.kind }
    static var displayName: String { Service.preset.displayName }
    static var flow: ProviderFlow { .redirect }
    static var exposesClaims: Bool { true }

    let provider: OAuth2Provider

    init(settings: Settings, context: ProviderContext) throws {
        provider = try OAuth2Provider(settings: Service.preset.settings(settings.values), context: context)
    }

    func authorizationURL(for flow: RedirectFlow) async throws -> String {
        try await provider.authorizationURL(for: flow)
    }

    func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity {
        try await provider.complete(callback, of: flow)
    }
}

extension String {
    var withoutTrailingSlash: String { hasSuffix("/") ? String(dropLast()) : self }

    /// The URL with another scheme and host.
    fileprivate func moved(to base: String?) -> String {
        guard let base, let scheme = firstRange(of: "://") else { return self }
        return base + self[scheme.upperBound...].drop { $0 != "/" }
    }
}
