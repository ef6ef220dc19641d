import Foundation
import ProviderKit
import Testing

@testable import Outbound

/// Tests the requests for deliveries: destinations are checked as for providers, and only the status of a response is
/// read.
struct OutboundPosterTests {
    private func post(
        _ url: String, by network: OutboundNetwork, isPrivate: Bool = true, within deadline: Duration = .seconds(3)
    ) async throws -> Int {
        try await network.poster(allowsPrivateHosts: isPrivate)
            .post(.post(url, json: Array(#"{"a":1}"#.utf8)), within: deadline)
    }

    @Test func `each request has its own connection, and redirects are not followed`() async throws {
        try await LocalUpstream.with(answer: { asked in
            asked.uri == "/there" ? .reply(307, headers: ["location": "/elsewhere"]) : .reply(202)
        }) { upstream in
            try await OutboundNetwork.with { network in
                let statuses = [
                    try await post(upstream.url("/in?a=b"), by: network),
                    try await post(upstream.url("/there"), by: network),
                ]
                #expect(statuses == [202, 307])
                #expect(upstream.asked.map(\.uri) == ["/in?a=b", "/there"] && upstream.connections == 2)
                let asked = try #require(upstream.asked.first)
                #expect(asked.method == "POST" && asked.body == #"{"a":1}"#)
                #expect(asked.headers["content-type"] == "application/json" && asked.headers["connection"] == "close")
                #expect(network.statistics.isEmpty, "a delivery is no provider's")
            }
        }
    }

    @Test func `after the status, the rest of the response does not matter`() async throws {
        let limits = OutboundLimits(responseSize: 1000)
        try await LocalUpstream.with(answer: { $0.uri == "/endless" ? .endless : .stall }) { upstream in
            try await OutboundNetwork.with(limits: limits) { network in
                let endless = try await post(upstream.url("/endless"), by: network)
                #expect(endless == 200)
                #expect(upstream.chunksWritten < 1000, "it is not read to the end")
                let stalled = try await post(upstream.url("/stall"), by: network, within: .seconds(3))
                #expect(stalled == 200)
            }
        }
    }

    @Test func `a silent service is abandoned at the deadline`() async throws {
        try await LocalUpstream.with(answer: { _ in .silence }) { upstream in
            try await OutboundNetwork.with { network in
                await #expect(throws: Obstacle.timeout) {
                    try await post(upstream.url(), by: network, within: .milliseconds(300))
                }
                // No circuit opens, because the queue decides when to retry.
                for _ in 0..<10 {
                    await #expect(throws: Obstacle.timeout) {
                        try await post(upstream.url(), by: network, within: .milliseconds(20))
                    }
                }
            }
        }
    }

    @Test func `a cancellation is not a failure`() async throws {
        try await LocalUpstream.with(answer: { _ in .silence }) { upstream in
            try await OutboundNetwork.with { network in
                let posting = Task { try await post(upstream.url(), by: network, within: .seconds(60)) }
                while upstream.asked.isEmpty { await Task.yield() }
                posting.cancel()
                await #expect(throws: CancellationError.self) { try await posting.value }
            }
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost", "127.1", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254"])
    func `private addresses are not reached`(host: String) async throws {
        try await LocalUpstream.with(answer: { _ in .reply(200) }) { upstream in
            try await OutboundNetwork.with { network in
                for scheme in ["http", "https"] {
                    await #expect(throws: Obstacle.forbidden) {
                        try await post(upstream.url(host: host, scheme: scheme), by: network, isPrivate: false)
                    }
                }
            }
            #expect(upstream.connections == 0)
        }
    }

    @Test func `one private address among others is enough, and the connection goes where the check was`() async throws
    {
        try await LocalUpstream.with(answer: { _ in .reply(200) }) { upstream in
            let mixed: Resolver.LookUp = { _ in ["8.8.8.8", "127.0.0.1"].compactMap { IPAddress($0) } }
            try await OutboundNetwork.with(lookUp: mixed) { network in
                await #expect(throws: Obstacle.forbidden) {
                    try await post(upstream.url(host: "a.example", scheme: "https"), by: network, isPrivate: false)
                }
            }
            // The name exists only in this lookup. The client does not resolve it again, so a different later answer
            // has no effect.
            let pinned: Resolver.LookUp = { _ in [IPAddress("127.0.0.1")].compactMap { $0 } }
            try await OutboundNetwork.with(lookUp: pinned) { network in
                let status = try await post(upstream.url(host: "pinned.invalid"), by: network)
                #expect(status == 200)
            }
            #expect(upstream.connections == 1)
        }
    }

    @Test func `a failed request has a reason`() async throws {
        let unknown: Resolver.LookUp = { _ in throw OutboundFailure.unresolvable }
        try await OutboundNetwork.with(lookUp: unknown) { network in
            await #expect(throws: Obstacle.name) { try await post("https://a.invalid/", by: network) }
            await #expect(throws: Obstacle.name) { try await post("https://user@a.invalid/", by: network) }
            await #expect(throws: Obstacle.connection) { try await post("http://127.0.0.1:1/", by: network) }
        }
    }
}
