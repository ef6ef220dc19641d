import Foundation
import GatehouseTesting
import Logging
import ProviderKit
import Testing

@testable import Outbound

/// Tests that the failure of one provider does not affect others.
struct IsolationTests {
    @Test func aFailingUpstreamIsLeftAlone() async throws {
        let clock = ManualClock()
        let log = LogRecorder()
        try await LocalUpstream.with(answer: { _ in .reply(500) }) { failing in
            try await LocalUpstream.with(answer: { _ in .reply(200) }) { well in
                try await OutboundNetwork.with(logger: log.logger, clock: clock) { network in
                    let fetcher = network.fetcher()
                    for _ in 0..<5 { #expect(await fetcher.status(of: failing.url()) == 500) }
                    for _ in 0..<20 { #expect(await fetcher.fails(failing.url())) }
                    #expect(failing.asked.count == 5)
                    // Another upstream of the same provider, and another provider of the same upstream, still work.
                    #expect(await fetcher.status(of: well.url()) == 200)
                    #expect(await network.fetcher("two").status(of: failing.url()) == 500)
                    #expect(network.statistics.first?.isUp == false)
                    clock.advance(by: .seconds(5))
                    #expect(await fetcher.status(of: failing.url()) == 500)
                    #expect(await fetcher.fails(failing.url()))
                    #expect(failing.asked.count == 7)
                }
            }
        }
        #expect(log.lines.count { $0.level == .warning } == 1)
    }

    @Test func anUpstreamThatRecoversIsUpAgain() async throws {
        let clock = ManualClock()
        try await OutboundNetwork.with(clock: clock) { network in
            let url = try await LocalUpstream.with(answer: { _ in .reply(200) }) { $0.url() }
            let fetcher = network.fetcher()
            for _ in 0..<5 { #expect(await fetcher.fails(url)) }
            #expect(network.statistics.first?.isUp == false)
        }
        try await LocalUpstream.with(answer: { $0.uri == "/bad" ? .reply(500) : .reply(200) }) { upstream in
            try await OutboundNetwork.with(clock: clock) { network in
                let fetcher = network.fetcher()
                for _ in 0..<5 { _ = try await fetcher.fetch(.get(upstream.url("/bad"))) }
                #expect(await fetcher.fails(upstream.url("/")))
                clock.advance(by: .seconds(5))
                #expect(await fetcher.status(of: upstream.url("/")) == 200)
                let statistics = try #require(network.statistics.first)
                #expect(statistics.isUp)
                #expect(statistics.successes == 1)
                #expect(statistics.failures == 6)
                #expect(statistics.lastSuccess == Date(timeIntervalSince1970: 1_800_000_000))
            }
        }
    }

    /// While sixteen exchanges are under way, the seventeenth is refused at once, and one of another owner succeeds.
    @Test func aSlowProviderTakesNoMoreThanItsShare() async throws {
        try await LocalUpstream.with(answer: { $0.uri == "/slow" ? .silence : .reply(200) }) { upstream in
            try await OutboundNetwork.with(limits: OutboundLimits(deadline: .seconds(30), concurrency: 16)) { network in
                let slow = network.fetcher("slow")
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<16 { group.addTask { await slow.fails(upstream.url("/slow")) } }
                    while upstream.asked.count < 16 { try? await Task.sleep(for: .milliseconds(5)) }
                    let start = ContinuousClock.now
                    #expect(await slow.fails(upstream.url("/")))
                    #expect(ContinuousClock.now - start < .seconds(15))
                    #expect(await network.fetcher("quick").fails(upstream.url("/")) == false)
                    group.cancelAll()
                }
                #expect(await slow.fails(upstream.url("/")) == false)
            }
        }
    }

    @Test func whatIsKnownSurvivesAReload() async throws {
        try await LocalUpstream.with(answer: { _ in .reply(503) }) { upstream in
            try await OutboundNetwork.with { network in
                for _ in 0..<5 { _ = try await network.fetcher().fetch(.get(upstream.url())) }
                #expect(await network.fetcher().fails(upstream.url()))
                #expect(network.statistics.count == 1)
            }
        }
    }
}
