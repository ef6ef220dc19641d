/// A provider whose tokens can be revoked at the service.
public protocol RevokingProvider: Provider {
    /// Revokes the tokens. Revoking them twice has no effect.
    /// - Throws: `ProviderError.unavailable` if the server should try again later.
    func revoke(_ tokens: ProviderTokens) async throws
}
