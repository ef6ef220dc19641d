public import ProviderKit

/// Sign-in with a pass that the Harbour signed.
public struct HarbourProvider: DirectProvider {
    /// The registration with the Harbour.
    public struct Settings: ProviderSettings {
        /// The base URL, which is also the issuer of passes.
        public var baseURL: String
        /// The client id at the Harbour.
        public var clientID: String

        /// Used by start-up validation, `config check` and the OpenAPI document.
        public static let schema = SettingsSchema([
            SettingField("baseURL", .url, required: true, help: "Where the Harbour is."),
            SettingField("clientID", .text, required: true, help: "The client id that the Harbour gave."),
        ])
    }

    /// The body of `POST /auth/harbour`.
    public struct Credential: RequestPayload {
        /// A JSON Web Token.
        public let pass: String

        /// The members of the body.
        public static let fields = RequestFields(Self.init, .init("pass"))
    }

    /// The name in configuration and in the route.
    public static let kind = "harbour"
    /// The label of a button.
    public static let displayName = "Harbour"

    private let rules: TokenRules
    private let tokens: any TokenVerifying

    /// - Throws: `SettingsError` for faults that the schema cannot find.
    public init(settings: Settings, context: ProviderContext) throws {
        guard !settings.baseURL.hasSuffix("/") else {
            throw SettingsError(setting: "baseURL", reason: "ends with a slash")
        }
        rules = TokenRules(
            keys: .published(url: settings.baseURL + "/keys"), algorithms: [.es256], issuers: [settings.baseURL],
            audiences: [settings.clientID])
        tokens = context.ports.tokens
    }

    /// Returns evidence; the server decides which account it opens.
    public func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity {
        let claims = try await tokens.verify(credential.pass, by: rules)
        guard let crew = claims.subject, crew.utf8.count <= 255, let singleUse = claims.singleUse(by: "jti") else {
            throw ProviderError.refused
        }
        return VerifiedIdentity(
            providerUid: crew, displayName: PersonName.joined(claims["name"].string),
            authenticatedAt: claims.provenAt, singleUse: singleUse)
    }
}
