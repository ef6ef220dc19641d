import Foundation
import ProviderKit
import Testing

@testable import Tokens

/// Tests how often published keys are fetched.
struct UpstreamKeyCacheTests {
    private let key = IssuerKey.es256
    private var set: String { IssuerKey.set(key.jwk()) }

    /// Makes a token that stays valid for all the time that these tests advance the clock.
    private func token(_ key: IssuerKey) throws -> String {
        try ForeignToken.make(key, claims: ForeignToken.claims(["exp": "\(ForeignToken.now + 1_000_000)"]))
    }

    @Test func oneFetchForManyAtOnce() async throws {
        let bench = UpstreamBench()
        let gate = Gate()
        bench.http.answer { [set] _ in
            await gate.pass()
            return FetchResponse(status: 200, body: Array(set.utf8))
        }
        let token = try token(key)
        let good = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { await bench.verify(token).isGood } }
            while bench.fetches == 0 { await Task.yield() }
            await gate.open()
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 100)
        #expect(bench.fetches == 1)
    }

    /// The first caller is cancelled.
    ///
    /// The others get their keys from the fetch that it started.
    @Test func oneThatGoesAwayTakesNothingFromTheOthers() async throws {
        let bench = UpstreamBench()
        let gate = Gate()
        bench.http.answer { [set] _ in
            await gate.pass()
            try Task.checkCancellation()
            return FetchResponse(status: 200, body: Array(set.utf8))
        }
        let token = try token(key)
        let first = Task { await bench.verify(token) }
        while bench.fetches == 0 { await Task.yield() }
        let second = Task { await bench.verify(token) }
        first.cancel()
        #expect(await first.value.isUnavailable)
        await gate.open()
        #expect(await second.value.isGood)
        #expect(bench.fetches == 1)
    }

    @Test func tenThousandUnknownKeysCauseOneFetch() async throws {
        let bench = UpstreamBench(publishing: set)
        #expect(await bench.verify(try token(key)).isGood)
        let tokens = try (0..<10000).map { try token(key.named("k\($0)")) }
        let refused = await withTaskGroup(of: Bool.self) { group in
            for token in tokens { group.addTask { await bench.verify(token).isRefused } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refused == 10000)
        #expect(bench.fetches == 2)
        bench.time.advance(by: 29)
        #expect(await bench.verify(tokens[0]).isRefused)
        #expect(bench.fetches == 2)
        bench.time.advance(by: 1)
        for token in tokens.prefix(100) { #expect(await bench.verify(token).isRefused) }
        #expect(bench.fetches == 3)
        #expect(await bench.verify(try token(key)).isGood)
    }

    /// Before any fetch, tokens with unknown keys cause only one.
    @Test func unknownKeysOnAColdStartCauseOneFetch() async throws {
        let bench = UpstreamBench(publishing: set)
        for index in 0..<100 { #expect(await bench.verify(try token(key.named("k\(index)"))).isRefused) }
        #expect(bench.fetches == 1)
        #expect(await bench.verify(try token(key)).isGood)
        #expect(bench.fetches == 1)
    }

    @Test func rotationIsPickedUpAtOnce() async throws {
        let bench = UpstreamBench(publishing: set)
        #expect(await bench.verify(try token(key)).isGood)
        let next = IssuerKey.p256(kid: "next")
        bench.http.answer(json: IssuerKey.set(next.jwk()))
        #expect(await bench.verify(try token(next)).isGood)
        #expect(bench.fetches == 2)
        // Keys that are no longer published are not used.
        bench.time.advance(by: 30)
        #expect(await bench.verify(try token(key)).isRefused)
    }

    @Test(
        arguments: [
            (nil, 3600.0), ("max-age=600", 600), ("public, max-age=7200, must-revalidate", 7200), ("Max-Age=1", 300),
            ("max-age=99999999", 86400), ("max-age=-5", 300), ("max-age=1e999", 3600), ("max-age=x", 3600),
            ("no-store", 300), ("no-cache, max-age=900", 300),
        ] as [(String?, TimeInterval)])
    func keysAreKeptAsLongAsTheSourceSays(_ control: String?, lifetime: TimeInterval) async throws {
        let bench = UpstreamBench()
        bench.http.answer(json: set, headers: control.map { ["cache-control": $0] } ?? [:])
        #expect(await bench.verify(try token(key)).isGood)
        bench.time.advance(by: lifetime - 1)
        #expect(await bench.verify(try token(key)).isGood)
        #expect(bench.fetches == 1)
        bench.time.advance(by: 1)
        #expect(await bench.verify(try token(key)).isGood)
        // The fetch runs in the background.
        while bench.fetches < 2 { await Task.yield() }
    }

    @Test func knownKeysOutliveTheirSourceByADay() async throws {
        let bench = UpstreamBench(publishing: set)
        #expect(await bench.verify(try token(key)).isGood)
        bench.http.answer { _ in throw ProviderError.unavailable }
        bench.time.advance(by: 3600 + 86399)
        #expect(await bench.verify(try token(key)).isGood)
        while bench.fetches < 2 { await Task.yield() }
        bench.time.advance(by: 1)
        #expect(await bench.verify(try token(key)).isUnavailable)
    }

    @Test func aSlowRefreshHoldsNobodyUp() async throws {
        let bench = UpstreamBench(publishing: set)
        #expect(await bench.verify(try token(key)).isGood)
        let gate = Gate()
        bench.http.answer { [set] _ in
            await gate.pass()
            return FetchResponse(status: 200, body: Array(set.utf8))
        }
        bench.time.advance(by: 3600)
        for _ in 0..<100 { #expect(await bench.verify(try token(key)).isGood) }
        #expect(bench.fetches <= 2)
        await gate.open()
    }

    @Test func aSourceThatFailsIsLeftAloneForAWhile() async throws {
        let bench = UpstreamBench()
        for _ in 0..<100 { #expect(await bench.verify(try token(key)).isUnavailable) }
        #expect(bench.fetches == 1)
        bench.http.answer(json: set)
        bench.time.advance(by: 1)
        #expect(await bench.verify(try token(key)).isUnavailable)
        bench.time.advance(by: 1)
        #expect(await bench.verify(try token(key)).isGood)
        #expect(bench.fetches == 2)
    }

    @Test func unknownKeysWhileTheSourceIsDown() async throws {
        let bench = UpstreamBench(publishing: set)
        #expect(await bench.verify(try token(key)).isGood)
        bench.http.answer { _ in throw ProviderError.unavailable }
        for _ in 0..<100 { #expect(await bench.verify(try token(key.named("new"))).isUnavailable) }
        #expect(bench.fetches == 2)
        #expect(await bench.verify(try token(key)).isGood)
        #expect(bench.fetches == 2)
    }

    @Test(arguments: ["", "<html>", "[]", "{}", #"{"keys":{}}"#, #"{"keys":"x"}"#, "null"])
    func documentsThatAreNoKeySetCountAsNone(_ document: String) async throws {
        let bench = UpstreamBench(publishing: document)
        #expect(await bench.verify(try token(key)).isUnavailable)
        bench.http.answer(json: set, status: 404)
        bench.time.advance(by: 5)
        #expect(await bench.verify(try token(key)).isUnavailable)
        bench.http.answer(json: set)
        bench.time.advance(by: 5)
        #expect(await bench.verify(try token(key)).isGood)
    }

    @Test func `many sources in turn do not cause more fetches of one`() async throws {
        let bench = UpstreamBench(publishing: set)
        let token = try token(key)
        func verify(_ path: String) async -> Result<TokenClaims, ProviderError> {
            await bench.verify(token, by: ForeignToken.rules(.published(url: "https://rp.example/\(path)")))
        }
        for _ in 0..<3 { for index in 0..<200 { _ = await verify("\(index)") } }
        #expect(bench.fetches == 200)
        bench.time.advance(by: 2)
        #expect(await verify("0").isGood)
        #expect(bench.fetches <= 201)
        // Sources that failed a moment ago are remembered up to a number, and no caller displaces them.
        bench.http.answer { _ in throw ProviderError.unavailable }
        for _ in 0..<2 { for index in 0..<5000 { _ = await verify("failing/\(index)") } }
        #expect(bench.fetches < 201 + 4096)
        bench.http.answer(json: set)
        bench.time.advance(by: 2)
        #expect(await verify("another").isGood)
    }

    @Test func sourcesDontShareKeys() async throws {
        let bench = UpstreamBench(publishing: set)
        #expect(await bench.verify(try token(key)).isGood)
        bench.http.answer(json: IssuerKey.set())
        let other = ForeignToken.rules(.published(url: "https://other.example/keys"))
        #expect(await bench.verify(try token(key), by: other).isRefused)
    }
}
