internal import ProviderKit

/// A known OpenID Connect service that needs only an id and a secret.
struct OpenIDConnectPreset: Sendable {
    let kind: String
    let displayName: String
    /// The service's base URL without a trailing slash.
    let baseURL: String
    /// The issuer's path; `{tenant}` becomes the only tenant that may sign in, or `common`.
    var path = ""
    var scopes = ["email", "profile"]
    /// Claims whose names differ from the standard.
    var claims: [String: String?] = [:]
    /// Settings for this service only.
    var furtherSettings: [SettingField] = []

    var schema: SettingsSchema {
        SettingsSchema(
            [
                SettingField("clientID", .text, required: true, help: "The client id at \(displayName)."),
                SettingField("clientSecret", .secret, help: "The client secret at \(displayName)."),
                .scopes(scopes), .audiences, .trustEmail, .claims, .nonce,
                SettingField("baseURL", .url, help: "The URL of \(displayName). Default: \(baseURL)."),
            ] + furtherSettings)
    }

    /// The settings of an `OpenIDConnectProvider` for this service.
    func settings(_ settings: OpenIDConnectPresetSettings) -> OpenIDConnectProvider.Settings {
        let tenant = settings.tenants.flatMap { $0.count == 1 ? $0.first?.lowercased() : nil } ?? "common"
        let base = settings.baseURL?.withoutTrailingSlash ?? baseURL
        return OpenIDConnectProvider.Settings(
            issuer: base + path.replacing("{tenant}", with: tenant), clientID: settings.clientID,
            clientSecret: settings.clientSecret, scopes: settings.scopes ?? scopes, audiences: settings.audiences,
            trustEmail: settings.trustEmail, hostedDomains: settings.hostedDomains, tenants: settings.tenants,
            claims: claims.merging(settings.claims ?? [:]) { $1 }, nonce: settings.nonce)
    }

    /// The service's traits, independent of a configured `baseURL`.
    var traits: IssuerTraits { .of(issuer: baseURL) }
}

/// The settings of all presets; each preset's schema allows some of them.
struct OpenIDConnectPresetSettings: Decodable, Sendable {
    var clientID: String
    var clientSecret: String?
    var scopes: [String]?
    var audiences: [String]?
    var trustEmail: Bool?
    var hostedDomains: [String]?
    var tenants: [String]?
    var claims: [String: String?]?
    var nonce: NonceRule?
    var baseURL: String?
}

/// A type for each preset, because each kind of provider is a type.
protocol OpenIDConnectService: Sendable {
    static var preset: OpenIDConnectPreset { get }
}

/// An `OpenIDConnectProvider` with the settings of a preset.
struct ReadyOpenIDConnect<Service: OpenIDConnectService>: RedirectProvider, NativeTokenProvider, RevokingProvider {
    struct Settings: ProviderSettings {
        let values: OpenIDConnectPresetSettings

        init(from decoder: any Decoder) throws { values = try OpenIDConnectPresetSettings(from: decoder) }

        static var schema: SettingsSchema { Service.preset.schema }
    }

    static var kind: String { Service.preset.kind }
    static var displayName: String { Service.preset.displayName }
    static var flow: ProviderFlow { .redirect }
    static var exposesClaims: Bool { true }

    let provider: OpenIDConnectProvider

    init(settings: Settings, context: ProviderContext) throws {
        let preset = Service.preset
        provider = try OpenIDConnectProvider(
            settings: preset.settings(settings.values), traits: preset.traits, context: context)
    }

    func authorizationURL(for flow: RedirectFlow) async throws -> String {
        try await provider.authorizationURL(for: flow)
    }

    func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity {
        try await provider.complete(callback, of: flow)
    }

    func verify(_ token: NativeToken) async throws -> VerifiedIdentity { try await provider.verify(token) }

    func revoke(_ tokens: ProviderTokens) async throws { try await provider.revoke(tokens) }
}
