/// A way of signing in.
///
/// The server makes one value for each application that configures it.
public protocol Provider: Sendable {
    associatedtype Settings: ProviderSettings

    /// The kind's name in configuration and routes: `email`, `apple`, `oidc`.
    static var kind: String { get }

    /// The label of a button, unless the settings have another.
    static var displayName: String { get }

    /// How a client begins.
    static var flow: ProviderFlow { get }

    /// Whether the configuration may expose claims of this kind's identities.
    ///
    /// A provider that returns `true` puts the claims that `ProviderContext.exposedClaims` names into the profile of its
    /// evidence. For any other, `expose` in the configuration is an error.
    static var exposesClaims: Bool { get }

    /// Creates a provider from an application's settings.
    /// - Throws: `SettingsError` if the settings decode but cannot work.
    init(settings: Settings, context: ProviderContext) throws
}

extension Provider {
    /// One request with the complete proof.
    public static var flow: ProviderFlow { .direct }

    /// No claims.
    public static var exposesClaims: Bool { false }
}

/// How a client signs in with a provider.
public enum ProviderFlow: String, Sendable {
    /// The client sends the proof.
    case direct
    /// The client requests a code and then sends it.
    case challenge
    /// The client opens the provider's pages, which redirect back.
    case redirect
}

/// Settings of a provider, decoded from configuration once their schema has accepted them.
public protocol ProviderSettings: Decodable, Sendable {
    static var schema: SettingsSchema { get }
}

/// The application that a provider works for, and the ports that it may use.
public struct ProviderContext: Sendable {
    /// The provider's configured name, unique within the application.
    public let name: String
    /// The application's base URL without a trailing slash: `https://id.example.com/apps/photos`.
    public let applicationURL: String
    /// The audience of tokens for this application.
    public let audience: String
    /// The claims that access tokens contain, under the provider's names or those of the setting `claims`.
    public let exposedClaims: [String]
    /// The services that the provider may use.
    public let ports: ProviderPorts

    /// Creates a context; the server does so, and tests of a provider do.
    public init(
        name: String, applicationURL: String, audience: String, exposedClaims: [String] = [], ports: ProviderPorts
    ) {
        self.name = name
        self.applicationURL = applicationURL
        self.audience = audience
        self.exposedClaims = exposedClaims
        self.ports = ports
    }
}

/// Why settings that decode cannot work.
public struct SettingsError: Error, Sendable {
    /// The setting's name in the schema.
    public let setting: String
    /// What is wrong with the setting, for administrators; never contains a secret.
    public let reason: String

    /// Creates the error for one setting.
    public init(setting: String, reason: String) {
        self.setting = setting
        self.reason = reason
    }
}

/// Why a provider refuses a credential.
public enum ProviderError: Error, Sendable, Equatable {
    /// The credential lacks a field; `field` is its name in the body.
    case missing(field: String)
    /// A field of the credential is malformed; `field` is its name in the body.
    case malformed(field: String, reason: String)
    /// The credential is well formed and proves nothing.
    case refused
    /// The service that must confirm the credential does not answer.
    case unavailable
}
