internal import Foundation
package import Logging
package import Outbound
package import ProviderKit
internal import Synchronization
internal import Tokens

/// The ports of providers in a running process: the network, the key sets of other servers, and signing.
///
/// One instance serves the whole process. It opens no connection before a provider's first call, so reading a
/// configuration causes no traffic.
package final class UpstreamPorts: ProviderPortsSource {
    private struct Key: Hashable {
        let owner: PortsOwner
        let allowsPrivateHosts: Bool
    }

    private let network: OutboundNetwork
    /// The ports by provider; they are kept so that fetched keys survive a reload.
    private let made = Mutex<[Key: ProviderPorts]>([:])

    package init(network: OutboundNetwork = OutboundNetwork()) { self.network = network }

    package func ports(for owner: PortsOwner, allowsPrivateHosts: Bool) -> ProviderPorts {
        made.withLock { made in
            let key = Key(owner: owner, allowsPrivateHosts: allowsPrivateHosts)
            if let ports = made[key] { return ports }
            let http = network.fetcher(
                application: owner.application, provider: owner.provider, allowsPrivateHosts: allowsPrivateHosts)
            let now: @Sendable () -> Date = { Date() }
            let ports = ProviderPorts(
                http: http, tokens: UpstreamTokenVerifier(http: http, now: now), signer: UpstreamTokenSigner(),
                now: now)
            made[key] = ports
            return ports
        }
    }

    package var statistics: [UpstreamStatistics] { network.statistics }
    package func report(to logger: Logger) { network.report(to: logger) }
    package func shutdown() async { await network.shutdown() }
}
