public import Foundation
public import ProviderKit

internal import Tokens

/// Ports for testing a provider: the server's own token verification, and a service that the test supplies.
public enum ConformancePorts {
    /// Creates ports with a service and a clock.
    public static func make(http: any HTTPFetching, now: @escaping @Sendable () -> Date = { Date() }) -> ProviderPorts {
        ProviderPorts(
            http: http, tokens: UpstreamTokenVerifier(http: http, now: now), signer: UpstreamTokenSigner(), now: now)
    }
}
