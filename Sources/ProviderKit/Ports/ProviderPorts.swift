public import Foundation

/// The services of the server that a provider may use.
public struct ProviderPorts: Sendable {
    /// Sends HTTP requests, with limits.
    public let http: any HTTPFetching
    /// Verifies tokens that other parties signed.
    public let tokens: any TokenVerifying
    /// Signs tokens that authenticate the server to a service.
    public let signer: any TokenSigning
    /// The wall clock.
    public let now: @Sendable () -> Date
    /// Notes what is wrong with the service.
    public let findings: any FindingNoting

    /// Creates the services; only the server and tests of a provider need to call this.
    public init(
        http: any HTTPFetching, tokens: any TokenVerifying, signer: any TokenSigning,
        now: @escaping @Sendable () -> Date, findings: any FindingNoting = UnnotedFindings()
    ) {
        self.findings = findings
        (self.http, self.tokens, self.signer, self.now) = (http, tokens, signer, now)
    }
}
