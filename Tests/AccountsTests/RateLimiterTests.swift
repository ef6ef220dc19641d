import Accounts
import ProviderKit
import Synchronization
import Testing

struct RateLimiterTests {
    private let counter = ScriptedCounter()
    private let clock = ManualClock()

    private func limiter(_ rates: [RateLimit: Rate]) -> RateLimiter {
        RateLimiter(policy: RatePolicy(rates), counter: counter, opaque: PlainPseudonyms(), now: { clock.now })
    }

    private func application(_ id: Application.ID) -> Application {
        Application(
            id: id, name: "demo", issuer: "https://demo.example", audience: "demo", policy: ApplicationPolicy(),
            providers: ProviderRegistry(installedKinds: [], configured: []))
    }

    private let rate = Rate(5, per: .seconds(60))
    private let a = RateSubject(target: "a")
    private let b = RateSubject(target: "b")

    @Test func `calls without a rate limit are not counted`() async throws {
        counter.answer(.failure(.unavailable(reason: "lost")))
        try await limiter([.refresh: rate]).spend(.login, of: a, in: application(1))
        #expect(counter.asked.isEmpty)
    }

    @Test func `a refused subject is not counted again before its retry time`() async throws {
        let limiter = limiter([.login: rate])
        try await limiter.spend(.login, of: a, in: application(1))
        counter.answer(.success(.seconds(12)))
        for (later, wait) in [(0, 12), (0, 12), (5, 7), (6, 1)] {
            clock.advance(later)
            await #expect(throws: AccountsError.rateLimited(retryAfter: .seconds(wait))) {
                try await limiter.spend(.login, of: a, in: application(1))
            }
        }
        #expect(counter.asked.count == 2)
        counter.answer(.success(nil))
        try await limiter.spend(.login, of: b, in: application(1))
        try await limiter.spend(.login, of: a, in: application(2))
        clock.advance(1)
        try await limiter.spend(.login, of: a, in: application(1))
        #expect(counter.asked.count == 5)
    }

    @Test func `a changed rate applies at once`() async throws {
        let limiter = limiter([.login: rate])
        counter.answer(.success(.seconds(12)))
        await #expect(throws: AccountsError.self) { try await limiter.spend(.login, of: a, in: application(1)) }
        counter.answer(.success(nil))
        limiter.replace(policy: RatePolicy([.login: Rate(6, per: .seconds(60))]))
        try await limiter.spend(.login, of: a, in: application(1))
        #expect(counter.asked.map(\.rate.count) == [5, 6])
        limiter.replace(policy: .off)
        try await limiter.spend(.login, of: a, in: application(1))
        #expect(counter.asked.count == 2)
    }

    @Test func `calls that cannot be counted are refused`() async throws {
        let limiter = limiter([.login: rate])
        for error in [AccountsError.unavailable(reason: "lost"), .overloaded(retryAfter: .seconds(1))] {
            counter.answer(.failure(error))
            await #expect(throws: error) { try await limiter.spend(.login, of: a, in: application(1)) }
        }
        counter.answer(.success(nil))
        try await limiter.spend(.login, of: a, in: application(1))
    }

    private func client(_ address: String) -> Client { Client(device: nil, address: address) }

    @Test func `a client counts by its network, and that by the one around it at sixteen times the rate`() async throws
    {
        let limiter = limiter([.login: rate, .general: rate])
        for address in ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8:1:2::1", "2001:db8:1:2:3::4", "unknown"] {
            try await limiter.spend(.login, of: RateSubject(client(address)), in: application(1))
        }
        try await limiter.spend(.general, of: RateSubject(client("203.0.113.7"), route: "GET /x"), in: application(1))
        #expect(
            counter.asked.map { String(decoding: $0.subject, as: UTF8.self) } == [
                "203.0.113.7", "203.0.113.7", "2001:db8:1:2::/64", "2001:db8:1:2::/64", "unknown", "GET /x 203.0.113.7",
            ])
        #expect(
            counter.blocks.map { $0.map { String(decoding: $0.subject, as: UTF8.self) } } == [
                "203.0.113.0/24", "203.0.113.0/24", "2001:db8:1::/48", "2001:db8:1::/48", nil, "GET /x 203.0.113.0/24",
            ])
        #expect(counter.blocks.compactMap { $0?.rate } == Array(repeating: Rate(80, per: .seconds(60)), count: 5))
    }

    @Test func `a refused block is not counted again for any of its clients`() async throws {
        let limiter = limiter([.login: rate])
        try await limiter.spend(.login, of: RateSubject(client("203.0.113.7")), in: application(1))
        counter.refuseBlock(for: .seconds(3))
        for (address, wait) in [("203.0.113.8", 3), ("203.0.113.9", 3)] {
            await #expect(throws: AccountsError.rateLimited(retryAfter: .seconds(wait))) {
                try await limiter.spend(.login, of: RateSubject(client(address)), in: application(1))
            }
        }
        #expect(counter.asked.count == 2)
        counter.answer(.success(nil))
        try await limiter.spend(.login, of: RateSubject(client("198.51.100.9")), in: application(1))
        clock.advance(3)
        try await limiter.spend(.login, of: RateSubject(client("203.0.113.8")), in: application(1))
        #expect(counter.asked.count == 4)
    }

    @Test func `local counting needs no database and has the same rates`() async throws {
        counter.answer(.failure(.unavailable(reason: "lost")))
        let limiter = limiter([.general: rate])
        func spend(_ address: String) -> Duration? {
            do {
                try limiter.spendHere(.general, of: RateSubject(client(address)), in: application(1))
                return nil
            } catch AccountsError.rateLimited(let wait) {
                return wait
            } catch {
                return .seconds(-1)
            }
        }
        #expect((1...6).map { _ in spend("203.0.113.1") } == [nil, nil, nil, nil, nil, .seconds(12)])
        clock.advance(11)
        #expect(spend("203.0.113.1") == .seconds(1))
        clock.advance(1)
        #expect(spend("203.0.113.1") == nil && spend("203.0.113.1") == .seconds(12))
        // After ten minutes the whole limit is available again.
        clock.advance(600)
        let served = (1...100).filter { spend("203.0.113.\($0)") == nil }
        #expect(served == Array(1...80))
        #expect(spend("203.0.113.200") == .milliseconds(750))
        #expect(spend("203.0.114.1") == nil)
        #expect(counter.asked.isEmpty)
        limiter.replace(policy: .off)
        #expect(spend("203.0.113.200") == nil)
    }
}

private final class ScriptedCounter: RateCounter {
    private struct State {
        var asked: [RateKey] = []
        var blocks: [RateKey?] = []
        var answer: Result<Duration?, AccountsError> = .success(nil)
        var refusesBlock = false
    }

    private let state = Mutex(State())

    var asked: [RateKey] { state.withLock { $0.asked } }
    var blocks: [RateKey?] { state.withLock { $0.blocks } }

    func answer(_ answer: Result<Duration?, AccountsError>) {
        state.withLock {
            $0.answer = answer
            $0.refusesBlock = false
        }
    }

    func refuseBlock(for wait: Duration) {
        state.withLock {
            $0.answer = .success(wait)
            $0.refusesBlock = true
        }
    }

    func take(_ key: RateKey, in block: RateKey?) async throws -> RateRefusal? {
        try state.withLock { state in
            state.asked.append(key)
            state.blocks.append(block)
            let refused = state.refusesBlock ? block ?? key : key
            return try state.answer.get().map { RateRefusal(key: refused, wait: $0) }
        }
    }
}

private final class ManualClock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(_ seconds: Int) {
        instant.withLock { $0 += .seconds(seconds) }
    }
}

/// Makes readable pseudonyms.
private struct PlainPseudonyms: OpaqueTokens {
    private let token = OpaqueToken(text: "", hash: [])

    func make() -> OpaqueToken { token }
    func parse(_ text: String) -> OpaqueToken? { nil }
    func successor(of token: OpaqueToken) -> OpaqueToken { token }
    func derived(from token: OpaqueToken, for purpose: DerivedPurpose) -> OpaqueToken { token }
    func pseudonym(of value: String, purpose: String) -> [UInt8] { Array(value.utf8) }
}
