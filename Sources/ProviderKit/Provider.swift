/// A method of signing in, such as e-mail or Apple.
///
/// The server creates one value for each application whose configuration contains the provider.
public protocol Provider: Sendable {
    associatedtype Settings: ProviderSettings

    /// The kind's name in configuration and routes: `email`, `apple`, `oidc`.
    static var kind: String { get }

    /// The label of the sign-in button, unless the settings contain another.
    static var displayName: String { get }

    /// How a client signs in with this kind of provider.
    static var flow: ProviderFlow { get }

    /// Whether the configuration may expose claims of this provider's identities in access tokens.
    ///
    /// If `true`, the provider must copy the claims named in `ProviderContext.exposedClaims` into the profile of its
    /// evidence. If `false`, `expose` in the configuration is an error.
    static var exposesClaims: Bool { get }

    /// Creates a provider from an application's settings.
    /// - Throws: `SettingsError` if the settings can be decoded but are not usable.
    init(settings: Settings, context: ProviderContext) throws
}

extension Provider {
    /// The client sends the complete proof in one request.
    public static var flow: ProviderFlow { .direct }

    /// `false`: no claims are exposed.
    public static var exposesClaims: Bool { false }
}

/// How a client signs in with a provider.
public enum ProviderFlow: String, Sendable, CaseIterable {
    /// The client sends the proof in one request.
    case direct
    /// The client requests a code, then sends the code that the person received.
    case challenge
    /// The client opens the provider's pages, which redirect the browser back.
    case redirect
}

/// Settings of a provider, validated by their schema and then decoded from the configuration.
public protocol ProviderSettings: Decodable, Sendable {
    static var schema: SettingsSchema { get }
}

/// The application that a provider is configured for, and the services that the provider may use.
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

    /// Creates a context; only the server and tests of a provider need to call this.
    public init(
        name: String, applicationURL: String, audience: String, exposedClaims: [String] = [], ports: ProviderPorts
    ) {
        (self.name, self.applicationURL, self.audience) = (name, applicationURL, audience)
        (self.exposedClaims, self.ports) = (exposedClaims, ports)
    }
}

/// A setting that can be decoded but is not usable.
public struct SettingsError: Error, Sendable {
    /// The setting's name in the schema.
    public let setting: String
    /// What is wrong with the setting, for administrators; never contains a secret.
    public let reason: String

    /// Creates the error for one setting.
    public init(setting: String, reason: String) { (self.setting, self.reason) = (setting, reason) }
}

/// Why a provider refuses a credential.
public enum ProviderError: Error, Sendable, Equatable {
    /// The credential lacks a field; `field` is its name in the body.
    case missing(field: String)
    /// A field of the credential is malformed; `field` is its name in the body.
    case malformed(field: String, reason: String)
    /// The credential is well formed, but not valid.
    case refused
    /// The service that must confirm the credential does not respond.
    case unavailable
}
