/// A provider whose tokens can be revoked at the service.
public protocol RevokingProvider: Provider {
    /// Revokes the tokens; the server may call this again for tokens that are already revoked.
    /// - Throws: `ProviderError.unavailable` if the server should try again later.
    func revoke(_ tokens: ProviderTokens) async throws
}
