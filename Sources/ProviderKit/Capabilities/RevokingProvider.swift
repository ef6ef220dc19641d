/// A provider whose tokens can be given back.
public protocol RevokingProvider: Provider {
    /// Tells the service that the tokens are not needed any more; telling it twice does no harm.
    /// - Throws: `ProviderError.unavailable`: to be tried again.
    func revoke(_ tokens: ProviderTokens) async throws
}
