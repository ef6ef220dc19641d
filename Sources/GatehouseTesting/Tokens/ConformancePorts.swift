public import Foundation
public import ProviderKit

internal import Tokens

/// The ways out that a provider is tested with: the server's own checks of signatures, and a service of the test's.
public enum ConformancePorts {
    /// Ports over this network, at this time.
    public static func make(
        http: any HTTPFetching, now: @escaping @Sendable () -> Date = { Date() }
    ) -> ProviderPorts {
        ProviderPorts(
            http: http, tokens: UpstreamTokenVerifier(http: http, now: now), signer: UpstreamTokenSigner(), now: now)
    }
}
