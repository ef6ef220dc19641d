package import Accounts
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

    package let findings = FindingLog()
    private let network: OutboundNetwork
    /// For hosts named by clients that registered themselves.
    ///
    /// A name server that never answers blocks a thread of the network's resolver, so these hosts have other threads.
    private let foreign: OutboundNetwork
    /// For hosts that administrators try out, for the same reason.
    private let tried = OutboundNetwork()
    /// The ports by provider; they are kept so that fetched keys survive a reload.
    private let made = Mutex<[Key: ProviderPorts]>([:])

    package init(network: OutboundNetwork = OutboundNetwork(), foreign: OutboundNetwork = OutboundNetwork()) {
        (self.network, self.foreign) = (network, foreign)
    }

    package func ports(for owner: PortsOwner, allowsPrivateHosts: Bool) -> ProviderPorts {
        made.withLock { made in
            let key = Key(owner: owner, allowsPrivateHosts: allowsPrivateHosts)
            if let ports = made[key] { return ports }
            let findings = findings.port(of: .init(application: owner.application, provider: owner.provider))
            let http = (owner == .registeredClients ? foreign : network).fetcher(
                application: owner.application, provider: owner.provider, allowsPrivateHosts: allowsPrivateHosts,
                findings: findings)
            let ports = ProviderPorts(http: http, findings: findings)
            made[key] = ports
            return ports
        }
    }

    package func candidatePorts(allowsPrivateHosts: Bool) -> ProviderPorts {
        ProviderPorts(
            http: ProbingFetcher(probe: probe(allowsPrivateHosts: allowsPrivateHosts)), findings: UnnotedFindings())
    }

    package func probe(allowsPrivateHosts: Bool) -> any ServiceProbing {
        tried.probe(allowsPrivateHosts: allowsPrivateHosts)
    }

    private var networks: [OutboundNetwork] { [network, foreign, tried] }

    package var statistics: [UpstreamStatistics] { networks.flatMap(\.statistics) }

    package func report(to logger: Logger) { for network in networks { network.report(to: logger) } }

    package func shutdown() async { for network in networks { await network.shutdown() } }
}

extension ProviderPorts {
    fileprivate init(http: any HTTPFetching, findings: any FindingNoting) {
        let now: @Sendable () -> Date = { Date() }
        self.init(
            http: http, tokens: UpstreamTokenVerifier(http: http, now: now, findings: findings),
            signer: UpstreamTokenSigner(), now: now, findings: findings)
    }
}

/// The network of a provider that is not configured.
private struct ProbingFetcher: HTTPFetching {
    let probe: any ServiceProbing

    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        do throws(ProviderFinding) {
            return try await probe.fetch(request)
        } catch {
            throw ProviderError.unavailable
        }
    }
}
