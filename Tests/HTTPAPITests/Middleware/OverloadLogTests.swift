import Accounts
import Synchronization
import Testing

@testable import HTTPAPI

struct OverloadLogTests {
    @Test func `logs the first at once and later ones in one line`() {
        let clock = Mutex(ContinuousClock.now)
        let log = OverloadLog { clock.withLock { $0 } }
        #expect(log.due() == 1)
        for _ in 1...5 { #expect(log.due() == nil) }
        clock.withLock { $0 += .seconds(10) }
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
