import Foundation
import HTTPAPI
import ProviderKit
import Synchronization
import Testing
import Tokens

@testable import GatehouseServer
@testable import Outbound

struct UpstreamPortsTests {
    private let owner = PortsOwner(application: "demo", provider: "apple")

    /// A reload requests ports again and must get the same keys and circuit breakers.
    @Test func whatIsKnownSurvivesAReload() async throws {
        let ports = UpstreamPorts()
        let first = ports.ports(for: owner, allowsPrivateHosts: false)
        let again = ports.ports(for: owner, allowsPrivateHosts: false)
        let other = ports.ports(
            for: PortsOwner(application: "demo", provider: "oidc"), allowsPrivateHosts: false)
        let verifier = try #require(first.tokens as? UpstreamTokenVerifier)
        #expect(again.tokens as? UpstreamTokenVerifier === verifier)
        #expect(other.tokens as? UpstreamTokenVerifier !== verifier)
        #expect(ports.ports(for: owner, allowsPrivateHosts: true).tokens as? UpstreamTokenVerifier !== verifier)
        #expect(ports.statistics.map(\.provider) == ["apple", "oidc"])
        await ports.shutdown()
    }

    @Test func refusesPrivateHostsUnlessAllowed() async throws {
        let ports = UpstreamPorts()
        let http = ports.ports(for: owner, allowsPrivateHosts: false).http
        await #expect(throws: ProviderError.unavailable) { try await http.fetch(.get("https://127.0.0.1:1/")) }
        #expect(ports.statistics.first?.failures == 1)
        await ports.shutdown()
    }

    /// Names that never resolve block the threads that look names up.
    @Test func `addresses that strangers have chosen are looked up apart`() async throws {
        let names = Mutex<[String: [String]]>([:])
        func network(_ name: String) -> OutboundNetwork {
            OutboundNetwork(limits: OutboundLimits(), tls: nil) { host in
                names.withLock { $0[name, default: []].append(host) }
                return []
            }
        }
        let ports = UpstreamPorts(network: network("configured"), foreign: network("foreign"))
        for (owner, host) in [(owner, "apple.example"), (.registeredClients, "stranger.example")] {
            let http = ports.ports(for: owner, allowsPrivateHosts: false).http
            await #expect(throws: ProviderError.unavailable) { try await http.fetch(.get("https://\(host)/")) }
        }
        #expect(names.withLock { $0 } == ["configured": ["apple.example"], "foreign": ["stranger.example"]])
        await ports.shutdown()
    }

    @Test func statisticsBecomeGauges() {
        let gauges = MetricsPage.Gauge.upstreams {
            [
                UpstreamStatistics(
                    application: "demo", provider: "apple", isUp: true, lastSuccess: Date(timeIntervalSince1970: 5),
                    successes: 3, failures: 1),
                UpstreamStatistics(
                    application: "demo", provider: "oidc", isUp: false, lastSuccess: nil, successes: 0, failures: 2),
            ]
        }
        let lines = gauges.flatMap { gauge in
            gauge.samples().map { sample in
                "\(gauge.name) \(sample.labels.map { "\($0)=\($1)" }.joined(separator: ",")) \(sample.value)"
            }
        }
        #expect(
            lines == [
                "provider_up application=demo,provider=apple 1.0", "provider_up application=demo,provider=oidc 0.0",
                "provider_last_success_timestamp_seconds application=demo,provider=apple 5.0",
                "provider_requests_total application=demo,provider=apple,outcome=success 3.0",
                "provider_requests_total application=demo,provider=apple,outcome=failure 1.0",
                "provider_requests_total application=demo,provider=oidc,outcome=success 0.0",
                "provider_requests_total application=demo,provider=oidc,outcome=failure 2.0",
            ])
    }
}
