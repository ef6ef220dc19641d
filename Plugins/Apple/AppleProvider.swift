internal import Foundation
public import ProviderKit

/// Sign in with Apple, with an identity token from Apple's SDK or on the web.
///
/// The proof is Apple's signature. If the client also sends an authorization code, it is exchanged for a refresh token,
/// which is revoked when the account is deleted. Apple's server-to-server events report later changes.
public struct AppleProvider: Provider {
    /// `true`, for claims of the identity token.
    public static let exposesClaims = true
    /// `apple`.
    public static let kind = "apple"
    /// The label of the sign-in button.
    public static let displayName = "Apple"

    let clientIDs: [String]
    let webClientID: String
    let nonce: NonceRule
    let exposedClaims: [String]
    let service: AppleService
    let tokens: any TokenVerifying

    /// Creates the provider.
    /// - Throws: `SettingsError` if the key is incomplete or cannot sign.
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

    /// Verifies a token that Apple signed for one of the clients.
    func claims(of token: String, requiresExpiry: Bool = true, maximumAge: Duration? = nil) async throws -> TokenClaims
    {
        let rules = TokenRules(
            keys: .published(url: service.baseURL + "/auth/keys"), algorithms: [.rs256], issuers: [service.baseURL],
            audiences: clientIDs, maximumAge: maximumAge, requiresExpiry: requiresExpiry)
        return try await tokens.verify(token, by: rules)
    }
}
