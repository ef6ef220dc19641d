package import Accounts
package import ProviderKit

/// What the server offers for looking at providers and the services behind them.
package protocol ProviderServices: UpstreamStates {
    /// The kinds of provider that can be configured.
    var kinds: [ProviderKindDescription] { get }

    /// The tools for the checks of a provider of an application.
    ///
    /// Those for a candidate call private hosts only in development: an administrator chooses the hosts, and
    /// `network.allowPrivateHosts` is for those that the operator names.
    func tools(forProvider name: String, isCandidate: Bool, in application: Application) -> DiagnosticTools

    /// Creates a provider from settings that are in no file; it is neither configured nor stored.
    ///
    /// Neither files nor environment variables that the settings name are read. It calls the same hosts as the tools.
    /// - Throws: `AdministrationError.invalidProviderSettings`.
    func makeCandidate(_ settings: CandidateSettings, in application: Application) throws -> ProviderCandidate
}

/// A kind of provider that the server was built with.
package struct ProviderKindDescription: Sendable {
    package let name, displayName: String
    package let flow: ProviderFlow
    package let settings: SettingsSchema

    package init(name: String, displayName: String, flow: ProviderFlow, settings: SettingsSchema) {
        (self.name, self.displayName, self.flow, self.settings) = (name, displayName, flow, settings)
    }
}

/// The settings of a provider that an administrator considers.
package struct CandidateSettings: Sendable {
    package let name, kind: String
    package let settings: JSONValue

    package init(name: String, kind: String, settings: JSONValue) {
        (self.name, self.kind, self.settings) = (name, kind, settings)
    }
}

/// A provider that could be configured.
package struct ProviderCandidate: Sendable {
    package let provider: any Provider
    /// The URL to register at the service; `nil` for a provider without pages of its own.
    package let callbackURL: String?
    /// The lines of the configuration, with variables instead of secrets.
    package let yaml: String

    package init(provider: any Provider, callbackURL: String?, yaml: String) {
        (self.provider, self.callbackURL, self.yaml) = (provider, callbackURL, yaml)
    }
}

/// Why a setting of a provider is refused.
package struct SettingProblem: Sendable, Equatable {
    /// The setting, such as `clientID` or `claims.email`; `name` and `kind` are those of the provider itself.
    package let path: String
    package let sentence: String

    package init(path: String, sentence: String) { (self.path, self.sentence) = (path, sentence) }
}
