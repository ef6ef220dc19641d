internal import ProviderKit

/// A service with a built-in preset.
///
/// It is a type, because the `kind` of a provider is static and each `ReadyProvider` type needs its own.
protocol ReadyService: Sendable {
    associatedtype Preset: ProviderPreset
    static var preset: Preset { get }
}

/// The fixed settings of one known service, such as its kind and its label.
protocol ProviderPreset: Sendable {
    associatedtype Settings: Decodable & Sendable
    associatedtype Base: RedirectProvider

    var kind: String { get }
    var displayName: String { get }
    var schema: SettingsSchema { get }

    /// Creates the generic OpenID Connect or OAuth 2.0 provider that signs in at this service.
    func provider(_ settings: Settings, context: ProviderContext) throws -> Base
}

/// A provider for one known service, with its own kind; it forwards all calls to the generic provider in `base`.
struct ReadyProvider<Service: ReadyService>: RedirectProvider {
    struct Settings: ProviderSettings {
        let values: Service.Preset.Settings

        init(from decoder: any Decoder) throws { values = try Service.Preset.Settings(from: decoder) }
        static var schema: SettingsSchema { Service.preset.schema }
    }

    static var kind: String { Service.preset.kind }
    static var displayName: String { Service.preset.displayName }
    static var flow: ProviderFlow { .redirect }
    static var exposesClaims: Bool { true }

    let base: Service.Preset.Base

    init(settings: Settings, context: ProviderContext) throws {
        base = try Service.preset.provider(settings.values, context: context)
    }

    var forwardedParameters: [String] { base.forwardedParameters }

    func authorizationURL(for flow: RedirectFlow) async throws -> String { try await base.authorizationURL(for: flow) }

    func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity {
        try await base.complete(callback, of: flow)
    }
}

extension ReadyProvider: NativeTokenProvider where Service.Preset.Base: NativeTokenProvider {
    func verify(_ token: NativeToken) async throws -> VerifiedIdentity { try await base.verify(token) }
}

extension ReadyProvider: RevokingProvider where Service.Preset.Base: RevokingProvider {
    func revoke(_ tokens: ProviderTokens) async throws { try await base.revoke(tokens) }
}

extension ReadyProvider: DiagnosableProvider where Service.Preset.Base: DiagnosableProvider {
    func checks(with tools: DiagnosticTools) -> [ProviderCheck] { base.checks(with: tools) }
}
