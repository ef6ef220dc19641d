import Accounts
import Foundation
import Synchronization

/// A clock that only a test advances.
final class ManualTime: TimeSource {
    private let seconds = Mutex(1_800_000_000.0)

    func now() -> Date {
        Date(timeIntervalSince1970: seconds.withLock { $0 })
    }

    func advance(by interval: Double) {
        seconds.withLock { $0 += interval }
    }
}
