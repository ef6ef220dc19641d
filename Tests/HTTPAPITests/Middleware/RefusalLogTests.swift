import Accounts
import Synchronization
import Testing

@testable import HTTPAPI

struct RefusalLogTests {
    @Test(arguments: [Duration.seconds(10), .seconds(60)])
    func `logs the first at once and later ones in one line`(interval: Duration) {
        let clock = Mutex(ContinuousClock.now)
        let log = RefusalLog(every: interval) { clock.withLock { $0 } }
        #expect(log.due() == 1)
        for _ in 1...5 { #expect(log.due() == nil) }
        clock.withLock { $0 += interval }
        #expect(log.due() == 6)
        #expect(log.due() == nil)
    }

    @Test func `an outage is no overload`() {
        #expect(AccountsError.overloaded(retryAfter: .seconds(1)).isOverload)
        #expect(CancellationError().isOverload)
        #expect(!AccountsError.unavailable(reason: "lost").isOverload)
        #expect(!AccountsError.invalidCredentials.isOverload)
    }
}
