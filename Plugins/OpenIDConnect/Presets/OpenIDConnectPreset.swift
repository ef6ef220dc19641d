internal import ProviderKit

/// An OpenID Connect service that everybody knows, ready but for id and secret.
struct OpenIDConnectPreset: Sendable {
    let kind: String
    let displayName: String
    /// Where the service is, without a trailing slash.
    let baseURL: String
    /// Where under that its issuer is; `{tenant}` is the one tenant that may sign in, or `common`.
    var path = ""
    var scopes = ["email", "profile"]
    /// Where it departs from the standard's names.
    var claims: [String: String?] = [:]
    /// Settings that mean something to this service alone.
    var furtherSettings: [SettingField] = []

    var schema: SettingsSchema {
        SettingsSchema(
            [
                SettingField("clientID", .text, required: true, help: "The client id that \(displayName) gave."),
                SettingField("clientSecret", .secret, help: "The client secret that \(displayName) gave."),
                .scopes(scopes), .audiences, .trustEmail, .claims, .nonce,
                SettingField("baseURL", .url, help: "Where \(displayName) is. Default: \(baseURL)."),
            ] + furtherSettings)
    }

    /// The settings of a plain provider for this service.
    func settings(_ settings: OpenIDConnectPresetSettings) -> OpenIDConnectProvider.Settings {
        let tenant = settings.tenants.flatMap { $0.count == 1 ? $0.first?.lowercased() : nil } ?? "common"
        let base = settings.baseURL?.withoutTrailingSlash ?? baseURL
        return OpenIDConnectProvider.Settings(
            issuer: base + path.replacing("{tenant}", with: tenant), clientID: settings.clientID,
            clientSecret: settings.clientSecret, scopes: settings.scopes ?? scopes, audiences: settings.audiences,
            trustEmail: settings.trustEmail, hostedDomains: settings.hostedDomains, tenants: settings.tenants,
            claims: claims.merging(settings.claims ?? [:]) { $1 }, nonce: settings.nonce)
    }

    /// They are the service's own, wherever `baseURL` has it.
    var traits: IssuerTraits { .of(issuer: baseURL) }
}

/// What the settings of every preset come down to; which of them one takes is its schema's business.
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

/// A type of its own for each preset, since a kind of provider is a type.
protocol OpenIDConnectService: Sendable {
    static var preset: OpenIDConnectPreset { get }
}

/// The plain provider under a preset's name.
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
