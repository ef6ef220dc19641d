internal import ProviderKit

/// A known service, which is a type because each kind of provider is one.
protocol ReadyService: Sendable {
    associatedtype Preset: ProviderPreset
    static var preset: Preset { get }
}

/// The fixed settings of a known service.
protocol ProviderPreset: Sendable {
    associatedtype Settings: Decodable & Sendable
    associatedtype Base: RedirectProvider

    var kind: String { get }
    var displayName: String { get }
    var schema: SettingsSchema { get }

    /// Creates the plain provider with the settings of this service.
    func provider(_ settings: Settings, context: ProviderContext) throws -> Base
}

/// A plain provider under the kind of a known service.
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
