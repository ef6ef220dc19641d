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

    private func application(_ id: Int32) -> Application {
        Application(
            id: id, name: "demo", issuer: "https://demo.example", audience: "demo", policy: ApplicationPolicy(),
            providers: ProviderRegistry(installedKinds: [], configured: []))
    }

    private let rate = Rate(5, per: .seconds(60))

    @Test func `what has no rate is not even counted`() async throws {
        counter.answer(.failure(.unavailable))
        try await limiter([.refresh: rate]).spend(.login, of: "a", in: application(1))
        #expect(counter.asked.isEmpty)
    }

    @Test func `whoever was refused is not asked about until the time has come`() async throws {
        let limiter = limiter([.login: rate])
        try await limiter.spend(.login, of: "a", in: application(1))
        counter.answer(.success(.seconds(12)))
        for (later, wait) in [(0, 12), (0, 12), (5, 7), (6, 1)] {
            clock.advance(later)
            await #expect(throws: AccountsError.rateLimited(retryAfter: .seconds(wait))) {
                try await limiter.spend(.login, of: "a", in: application(1))
            }
        }
        #expect(counter.asked.count == 2)
        counter.answer(.success(nil))
        try await limiter.spend(.login, of: "b", in: application(1))
        try await limiter.spend(.login, of: "a", in: application(2))
        clock.advance(1)
        try await limiter.spend(.login, of: "a", in: application(1))
        #expect(counter.asked.count == 5)
    }

    @Test func `a changed rate is asked for anew`() async throws {
        let limiter = limiter([.login: rate])
        counter.answer(.success(.seconds(12)))
        await #expect(throws: AccountsError.self) { try await limiter.spend(.login, of: "a", in: application(1)) }
        counter.answer(.success(nil))
        limiter.replace(policy: RatePolicy([.login: Rate(6, per: .seconds(60))]))
        try await limiter.spend(.login, of: "a", in: application(1))
        #expect(counter.asked.map(\.rate.count) == [5, 6])
        limiter.replace(policy: .off)
        try await limiter.spend(.login, of: "a", in: application(1))
        #expect(counter.asked.count == 2)
    }

    @Test func `what can't be counted is not allowed`() async throws {
        let limiter = limiter([.login: rate])
        for error in [AccountsError.unavailable, .overloaded(retryAfter: .seconds(1))] {
            counter.answer(.failure(error))
            await #expect(throws: error) { try await limiter.spend(.login, of: "a", in: application(1)) }
        }
        counter.answer(.success(nil))
        try await limiter.spend(.login, of: "a", in: application(1))
    }

    @Test func `a client goes by what one subscriber has`() async throws {
        let limiter = limiter([.login: rate])
        for address in ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8:1:2::1", "2001:db8:1:2:3::4", "unknown"] {
            try await limiter.spend(.login, of: Client(device: nil, address: address), in: application(1))
        }
        #expect(
            counter.asked.map { String(decoding: $0.subject, as: UTF8.self) }
                == ["203.0.113.7", "203.0.113.7", "2001:db8:1:2::/64", "2001:db8:1:2::/64", "unknown"])
    }
}

private final class ScriptedCounter: RateCounter {
    private let state = Mutex<(asked: [RateKey], answer: Result<Duration?, AccountsError>)>(([], .success(nil)))

    var asked: [RateKey] { state.withLock { $0.asked } }

    func answer(_ answer: Result<Duration?, AccountsError>) {
        state.withLock { $0.answer = answer }
    }

    func take(_ key: RateKey) async throws -> Duration? {
        try state.withLock { state in
            state.asked.append(key)
            return try state.answer.get()
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

/// Pseudonyms that can be read.
private struct PlainPseudonyms: OpaqueTokens {
    private let token = OpaqueToken(text: "", hash: [])

    func make() -> OpaqueToken { token }
    func parse(_ text: String) -> OpaqueToken? { nil }
    func successor(of token: OpaqueToken) -> OpaqueToken { token }
    func derived(from token: OpaqueToken, for purpose: DerivedPurpose) -> OpaqueToken { token }
    func pseudonym(of value: String, purpose: String) -> [UInt8] { Array(value.utf8) }
}
