public import Foundation

/// The narrow ways in which a provider reaches out of itself.
public struct ProviderPorts: Sendable {
    /// The network, within bounds.
    public let http: any HTTPFetching
    /// Signed tokens of others.
    public let tokens: any TokenVerifying
    /// Signed tokens of ours, for services that want to know who is asking.
    public let signer: any TokenSigning
    /// The wall clock.
    public let now: @Sendable () -> Date

    /// Made by the server, and by tests of a provider.
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
