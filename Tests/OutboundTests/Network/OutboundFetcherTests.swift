import Foundation
import GatehouseTesting
import ProviderKit
import Testing

@testable import Outbound

struct OutboundFetcherTests {
    @Test func getsAndPosts() async throws {
        try await LocalUpstream.with(answer: { asked in
            .reply(201, headers: ["X-Thing": "1", "cache-control": "max-age=5"], body: asked.body)
        }) { upstream in
            try await OutboundNetwork.with { network in
                let fetcher = network.fetcher()
                let posted = try await fetcher.fetch(
                    .post(upstream.url("/token?a=b"), form: ["code": "a b&c", "x": "é"]))
                #expect(posted.status == 201)
                #expect(posted.headers["x-thing"] == "1")
                #expect(String(decoding: posted.body, as: UTF8.self) == "code=a%20b%26c&x=%C3%A9")
                var get = FetchRequest.get(upstream.url("/me"), bearer: "t")
                get.headers["Host"] = "evil.example"
                get.headers["accept"] = "text/plain"
                _ = try await fetcher.fetch(get)
                let asked = upstream.asked
                #expect(asked.map(\.method) == ["POST", "GET"])
                #expect(asked.map(\.uri) == ["/token?a=b", "/me"])
                #expect(asked[0].headers["content-type"] == "application/x-www-form-urlencoded")
                #expect(asked[0].headers["accept"] == "application/json")
                #expect(asked[1].headers["authorization"] == "Bearer t")
                #expect(asked[1].headers["accept"] == "text/plain")
                #expect(asked[1].headers["host"] == "127.0.0.1:\(upstream.port)")
                #expect(upstream.connections == 1)
            }
        }
    }

    @Test func everyStatusIsAnAnswer() async throws {
        try await LocalUpstream.with(answer: { .reply(UInt($0.uri.dropFirst()) ?? 0) }) { upstream in
            try await OutboundNetwork.with { network in
                for status in [200, 202, 400, 401, 404, 429, 500, 503] {
                    let response = try await network.fetcher().fetch(.get(upstream.url("/\(status)")))
                    #expect(response.status == status)
                }
                let statistics = try #require(network.statistics.first)
                #expect(statistics.successes == 6)
                #expect(statistics.failures == 2)
            }
        }
    }

    @Test func bodiesEndAtTheLimit() async throws {
        let limits = OutboundLimits(deadline: .seconds(5), responseSize: 1000)
        try await LocalUpstream.with(answer: { asked in
            switch asked.uri {
            case "/fits": .reply(200, body: String(repeating: "a", count: 1000))
            case "/long": .reply(200, body: String(repeating: "a", count: 1001))
            default: .endless
            }
        }) { upstream in
            try await OutboundNetwork.with(limits: limits) { network in
                let fetcher = network.fetcher()
                #expect(try await fetcher.fetch(.get(upstream.url("/fits"))).body.count == 1000)
                #expect(await fetcher.fails(upstream.url("/long")))
                #expect(await fetcher.fails(upstream.url("/endless")))
                // The client stopped reading, so the server can no longer write: the connection is closed soon.
                var written = -1
                while written != upstream.chunksWritten {
                    written = upstream.chunksWritten
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(written < 1000)
            }
        }
    }

    @Test(arguments: [LocalUpstream.Answer.silence, .stall])
    func exchangesEndAtTheDeadline(_ answer: LocalUpstream.Answer) async throws {
        try await LocalUpstream.with(answer: { _ in answer }) { upstream in
            try await OutboundNetwork.with(limits: OutboundLimits(deadline: .milliseconds(200))) { network in
                let start = ContinuousClock.now
                #expect(await network.fetcher().fails(upstream.url()))
                #expect(ContinuousClock.now - start < .seconds(15))
                #expect(network.statistics.first?.isUp == false)
            }
        }
    }

    @Test func redirectsStayAtHome() async throws {
        try await LocalUpstream.with(answer: { asked in
            switch asked.uri {
            case "/1": .reply(302, headers: ["location": "/2"])
            case "/2": .reply(307, headers: ["location": "3"])
            case "/3": .reply(308, headers: ["location": "/4?x"])
            case "/0": .reply(301, headers: ["location": "/1"])
            case "/away": .reply(302, headers: ["location": "http://localhost:1/"])
            case "/file": .reply(302, headers: ["location": "file:///etc/passwd"])
            case "/nowhere": .reply(302)
            case "/other": .reply(304)
            case "/loop": .reply(302, headers: ["location": "/loop"])
            default: .reply(200, body: asked.uri)
            }
        }) { upstream in
            try await OutboundNetwork.with { network in
                let fetcher = network.fetcher()
                let end = try await fetcher.fetch(.get(upstream.url("/1"), bearer: "t"))
                #expect(String(decoding: end.body, as: UTF8.self) == "/4?x")
                for path in ["/0", "/away", "/file", "/nowhere", "/other", "/loop"] {
                    #expect(await fetcher.fails(upstream.url(path)), "\(path)")
                }
                await #expect(throws: ProviderError.unavailable) {
                    try await fetcher.fetch(.post(upstream.url("/1"), form: [:]))
                }
            }
        }
    }

    /// A cancelled call ends only its own exchange, and does not count as a failure of the upstream.
    @Test func aCallerThatGoesAwayEndsItsExchangeAlone() async throws {
        try await LocalUpstream.with(answer: { $0.uri == "/silent" ? .silence : .reply(200) }) { upstream in
            try await OutboundNetwork.with { network in
                let fetcher = network.fetcher()
                for _ in 0..<10 {
                    let call = Task { try await fetcher.fetch(.get(upstream.url("/silent"))) }
                    while upstream.asked.filter({ $0.uri == "/silent" }).isEmpty { await Task.yield() }
                    call.cancel()
                    await #expect(throws: ProviderError.unavailable) { try await call.value }
                }
                #expect(await fetcher.status(of: upstream.url()) == 200)
                #expect(network.statistics.first?.failures == 0)
            }
        }
    }

    /// A header field that can't be sent is a fault of the caller, so it does not open the circuit.
    @Test(arguments: ["a\nb", "a\rb", "a\0b", "a\u{7F}b"])
    func aHeaderThatCannotBeSentIsNoFailureOfTheUpstream(_ bearer: String) async throws {
        try await LocalUpstream.with(answer: { _ in .reply(200) }) { upstream in
            try await OutboundNetwork.with(rules: .init(threshold: 2)) { network in
                let fetcher = network.fetcher()
                for _ in 0..<3 {
                    await #expect(throws: ProviderError.unavailable) {
                        try await fetcher.fetch(.get(upstream.url(), bearer: bearer))
                    }
                }
                #expect(upstream.connections == 0)
                #expect(await fetcher.status(of: upstream.url()) == 200)
            }
        }
    }

    @Test func theLogSaysWhyAndNothingElse() async throws {
        let log = LogRecorder()
        try await LocalUpstream.with(answer: { _ in .reply(302, headers: ["location": "https://evil/?s3cret"]) }) {
            upstream in
            try await OutboundNetwork.with(logger: log.logger) { network in
                let fetcher = network.fetcher()
                #expect(await fetcher.fails(upstream.url("/p?token=s3cret")))
                #expect(await fetcher.fails("https://u:s3cret@host/"))
                _ = try? await fetcher.fetch(.get(upstream.url("/"), bearer: "s3cret"))
                _ = try? await fetcher.fetch(.post(upstream.url("/"), form: ["code": "s3cret"]))
            }
            #expect(!log.text.contains("s3cret"))
            #expect(log.text.contains("redirected elsewhere"))
            #expect(log.text.contains("127.0.0.1:\(upstream.port)"))
        }
    }

    @Test func nothingGoesOutAfterTheEnd() async throws {
        try await LocalUpstream.with(answer: { _ in .reply(200) }) { upstream in
            let fetcher = try await OutboundNetwork.with { $0.fetcher() }
            #expect(await fetcher.fails(upstream.url()))
            #expect(upstream.asked.isEmpty)
        }
    }
}
