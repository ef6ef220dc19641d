import Delivery
import Foundation
import ProviderKit
import Testing

struct RetryPolicyTests {
    private let policy = RetryPolicy()

    @Test(arguments: [
        (0, 30), (1, 60), (2, 120), (6, 1920), (7, 3600), (8, 3600), (63, 3600), (Int.max, 3600), (-1, 30),
    ])
    func theLimitDoublesUpToAnHour(attempts: Int, limit: Int) throws {
        func delay(_ fraction: Double) -> Duration? {
            policy.delay(after: .deferred(code: 451), attempts: attempts, age: .seconds(60), fraction: fraction)
        }
        #expect(delay(0) == .seconds(1))
        let limit = Duration.seconds(limit)
        let middle = limit / 2
        let longest = try #require(delay(0.999_999))
        #expect(delay(0.5) == middle)
        #expect(longest < limit)
    }

    @Test(arguments: [
        (DeliveryError.deferred(code: 451), 86_399.0, false), (.deferred(code: 451), 86_400, true),
        (.unreachable(.timeout), 86_399, false), (.unreachable(.timeout), 100_000, true),
        (.refused(code: 550), 0, true), (.malformedAddress, 0, true), (.expired, 0, true),
        (.unusableTemplate(language: "en", name: "x"), 0, true), (.notConfigured, 0, false),
        (.notConfigured, 1_000_000, false),
    ])
    func givesUp(error: DeliveryError, age: Double, isOver: Bool) {
        let delay = policy.delay(after: error, attempts: 3, age: .seconds(age), fraction: 0.5)
        #expect((delay == nil) == isOver)
    }

    @Test func whatOnlyLacksConfigurationIsTriedOften() {
        let delay = policy.delay(after: .notConfigured, attempts: 40, age: .seconds(60), fraction: 0.5)
        #expect(delay == .seconds(150))
    }
}
