internal import ProviderKit

/// A known OpenID Connect service, for which the configuration needs only a client id and a secret.
struct OpenIDConnectPreset: ProviderPreset {
    let kind, displayName: String
    /// The service's base URL without a trailing slash.
    let baseURL: String
    /// The path of the issuer; `{tenant}` is replaced by the only tenant of the settings, otherwise by `common`.
    var path = ""
    var scopes = ["email", "profile"]
    /// Claims whose names differ from the standard.
    var claims: [String: String?] = [:]
    /// Settings that only this service has.
    var furtherSettings: [SettingField] = []

    var schema: SettingsSchema {
        SettingsSchema(
            [
                SettingField("clientID", .text, required: true, help: "The client id at \(displayName)."),
                SettingField("clientSecret", .secret, help: "The client secret at \(displayName)."),
                .scopes(scopes), .audiences, .trustEmail, .claims, .nonce, .authorizationParameters, .forward,
                SettingField("baseURL", .url, help: "The URL of \(displayName). Default: \(baseURL)."),
            ] + furtherSettings)
    }

    func provider(
        _ settings: OpenIDConnectProvider.Settings, context: ProviderContext
    ) throws -> OpenIDConnectProvider {
        let tenant = settings.tenants.flatMap { $0.count == 1 ? $0.first?.lowercased() : nil } ?? "common"
        let base = settings.baseURL?.withoutTrailingSlash ?? baseURL
        var settings = settings
        settings.issuer = base + path.replacing("{tenant}", with: tenant)
        settings.scopes = settings.scopes ?? scopes
        settings.claims = claims.merging(settings.claims ?? [:]) { $1 }
        // The traits are always those of the service itself, even if a different `baseURL` is configured.
        return try OpenIDConnectProvider(settings: settings, traits: .of(issuer: baseURL), context: context)
    }
}
