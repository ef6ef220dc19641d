public import Foundation

/// The services of the server that a provider may use.
public struct ProviderPorts: Sendable {
    /// Sends HTTP requests, with limits.
    public let http: any HTTPFetching
    /// Verifies tokens that others signed.
    public let tokens: any TokenVerifying
    /// Signs tokens that authenticate the server to a service.
    public let signer: any TokenSigning
    /// The wall clock.
    public let now: @Sendable () -> Date

    /// Creates ports; the server does so, and tests of a provider do.
    public init(
        http: any HTTPFetching, tokens: any TokenVerifying, signer: any TokenSigning,
        now: @escaping @Sendable () -> Date
    ) {
        self.http = http
        self.tokens = tokens
        self.signer = signer
        self.now = now
    }
}
