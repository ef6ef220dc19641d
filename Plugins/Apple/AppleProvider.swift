internal import Foundation
public import ProviderKit

/// Sign in with Apple: by an identity token of its own SDK, or on the web.
///
/// What proves a person is Apple's signature alone. An authorization code beside the token only gets us the refresh
/// token that erasure gives back, and Apple's server-to-server events follow the identity after that.
public struct AppleProvider: Provider {
    /// From the identity token.
    public static let exposesClaims = true
    /// `apple`.
    public static let kind = "apple"
    /// What a button says.
    public static let displayName = "Apple"

    let clientIDs: [String]
    let webClientID: String
    let nonce: NonceRule
    let exposedClaims: [String]
    let service: AppleService
    let tokens: any TokenVerifying

    /// - Throws: `SettingsError` where a key is named in part, or can't sign.
    public init(settings: Settings, context: ProviderContext) throws {
        guard let first = settings.clientIDs.first else {
            throw SettingsError(setting: "clientIDs", reason: "names no app")
        }
        webClientID = settings.webClientID ?? first
        guard settings.clientIDs.contains(webClientID) else {
            throw SettingsError(setting: "webClientID", reason: "is not one of clientIDs")
        }
        clientIDs = settings.clientIDs
        nonce = settings.nonce ?? .optional
        exposedClaims = context.exposedClaims
        tokens = context.ports.tokens
        service = try AppleService(settings: settings, ports: context.ports)
    }

    /// The claims of a token that Apple signed for one of our clients.
    func claims(of token: String, requiresExpiry: Bool = true, maximumAge: Duration? = nil) async throws -> TokenClaims
    {
        let rules = TokenRules(
            keys: .published(url: service.baseURL + "/auth/keys"), algorithms: [.rs256], issuers: [service.baseURL],
            audiences: clientIDs, maximumAge: maximumAge, requiresExpiry: requiresExpiry)
        return try await tokens.verify(token, by: rules)
    }
}
