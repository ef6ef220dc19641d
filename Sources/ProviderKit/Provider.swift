/// A kind of sign-in that a server installs.
///
/// Its values are made from one application's settings each.
public protocol Provider: Sendable {
    associatedtype Settings: ProviderSettings

    /// The name of the kind, as configuration and routes spell it: `email`, `apple`, `oidc`.
    static var kind: String { get }

    /// What a person reads on a button, unless the settings say otherwise.
    static var displayName: String { get }

    /// How a client begins; most providers are direct.
    static var flow: ProviderFlow { get }

    /// Whether the configuration may expose claims of this kind's identities.
    ///
    /// A kind that returns `true` puts the claims that `ProviderContext.exposedClaims` names into the profile of its
    /// evidence. For any other, `expose` in the configuration is an error.
    static var exposesClaims: Bool { get }

    /// - Throws: `SettingsError` where the settings decode but can't work.
    init(settings: Settings, context: ProviderContext) throws
}

extension Provider {
    /// One request with the whole proof.
    public static var flow: ProviderFlow { .direct }

    /// No claims.
    public static var exposesClaims: Bool { false }
}

/// What a client does to sign in with a provider.
public enum ProviderFlow: String, Sendable {
    /// Sends the proof.
    case direct
    /// Asks for a code, then sends it.
    case challenge
    /// Goes to the provider's pages and comes back.
    case redirect
}

/// Settings of a provider, decoded from configuration once their schema has accepted them.
public protocol ProviderSettings: Decodable, Sendable {
    static var schema: SettingsSchema { get }
}

/// What a provider may know of where it works, and its ways out.
public struct ProviderContext: Sendable {
    /// The provider's configured name; unique inside the application.
    public let name: String
    /// Where the application is reached, without a trailing slash: `https://id.example.com/apps/photos`.
    public let applicationURL: String
    /// What tokens for this application name as their audience.
    public let audience: String
    /// The claims that access tokens carry, by the source's own names or those of the setting `claims`.
    public let exposedClaims: [String]
    /// The provider's ways out.
    public let ports: ProviderPorts

    /// Made by the server, and by tests of a provider.
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

/// Why settings that decode can't work.
public struct SettingsError: Error, Sendable {
    /// The setting's name, as in the schema.
    public let setting: String
    /// What is wrong with it, for an admin; never holds a secret's value.
    public let reason: String

    /// A refusal of one setting.
    public init(setting: String, reason: String) {
        self.setting = setting
        self.reason = reason
    }
}

/// Why a provider refuses a credential.
public enum ProviderError: Error, Sendable, Equatable {
    /// The credential lacks a field that it needs; `field` is the body's name for it.
    case missing(field: String)
    /// The credential has a field in another form; `field` is the body's name for it.
    case malformed(field: String, reason: String)
    /// The credential is well formed and proves nothing.
    case refused
    /// The service that would have to confirm it does not answer.
    case unavailable
}
