/// A provider that recognises a person by what the network adds to each request, such as a gateway's header.
public protocol GatewayProvider: Provider {
    /// The evidence that a request itself carries; `nil` if it carries none.
    /// - Throws: `ProviderError.refused` for evidence that is not valid.
    func evidence(in origin: RequestOrigin) throws -> VerifiedIdentity?
}
