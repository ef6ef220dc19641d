import Foundation
import ProviderKit
import Testing

@testable import Outbound

/// Calls on behalf of administrators: they are under the rules of all calls, and say why they fail.
struct OutboundProbeTests {
    private func finding(_ network: OutboundNetwork, _ url: String, isPrivate: Bool = true) async -> ProviderFinding? {
        do throws(ProviderFinding) {
            _ = try await network.probe(allowsPrivateHosts: isPrivate).fetch(.get(url))
            return nil
        } catch {
            return error
        }
    }

    @Test func `each failure is a finding`() async throws {
        try await LocalUpstream.with(answer: { asked in
            switch asked.uri {
            case "/away": .reply(302, headers: ["location": "http://169.254.169.254/"])
            case "/endless": .endless
            case "/silent": .silence
            default: .reply(200)
            }
        }) { upstream in
            let limits = OutboundLimits(deadline: .seconds(3), probe: .seconds(1), responseSize: 1000)
            let lookUp: Resolver.LookUp = { host in
                guard host == "known.invalid" else { throw OutboundFailure.unresolvable }
                return [IPAddress("127.0.0.1")].compactMap { $0 }
            }
            try await OutboundNetwork.with(limits: limits, lookUp: lookUp) { network in
                for (url, expected): (String, ProviderFinding?) in [
                    (upstream.url(), nil), (upstream.url("/away"), .upstreamRedirected),
                    (upstream.url("/endless"), .upstreamTooLarge), (upstream.url("/silent"), .upstreamTimeout),
                    (upstream.url(host: "unknown.invalid"), .upstreamUnresolved),
                    (upstream.url(host: "known.invalid"), nil), ("http://127.0.0.1:1/", .upstreamUnreachable),
                    (upstream.url(scheme: "https"), .upstreamUntrusted), ("ftp://127.0.0.1/", .upstreamURL),
                ] { #expect(await finding(network, url) == expected, "\(url)") }
                #expect(
                    await finding(network, upstream.url(scheme: "https"), isPrivate: false) == .upstreamPrivate)
                #expect(await finding(network, upstream.url(), isPrivate: false) == .upstreamInsecure)
            }
        }
    }

    @Test func `a name that leads to a private address is not resolved`() async throws {
        let lookUp: Resolver.LookUp = { _ in ["8.8.8.8", "10.0.0.1"].compactMap { IPAddress($0) } }
        try await OutboundNetwork.with(lookUp: lookUp) { network in
            await #expect(throws: ProviderFinding.upstreamPrivate) {
                try await network.probe(allowsPrivateHosts: false).resolve("https://rebound.example/")
            }
            try await network.probe(allowsPrivateHosts: true).resolve("https://rebound.example/")
        }
    }

    @Test func `calls neither open a circuit nor count`() async throws {
        try await LocalUpstream.with(answer: { _ in .reply(503) }) { upstream in
            try await OutboundNetwork.with { network in
                for _ in 0..<8 { #expect(await finding(network, upstream.url()) == nil) }
                #expect(network.statistics.isEmpty)
                _ = try await network.fetcher().fetch(.get(upstream.url()))
                #expect(network.statistics.first?.failures == 1)
            }
        }
    }

    @Test func `failures of live calls are noted`() async throws {
        try await LocalUpstream.with(answer: { $0.uri == "/down" ? .reply(503) : .silence }) { upstream in
            try await OutboundNetwork.with(limits: OutboundLimits(deadline: .milliseconds(200))) { network in
                let notes = NotedFindings()
                let fetcher = network.fetcher(
                    application: "app", provider: "one", allowsPrivateHosts: true, findings: notes)
                _ = try await fetcher.fetch(.get(upstream.url("/down")))
                #expect(await fetcher.fails(upstream.url("/silent")))
                #expect(await fetcher.fails("rubbish"))
                #expect(notes.all == [.upstreamError, .upstreamTimeout, .upstreamURL])
            }
        }
    }
}
