import Accounts
import Foundation
import GatehouseTesting

/// A wall clock that a test can set ahead of the real one.
final class ManualTime: TimeSource {
    private let ahead = Observed(TimeInterval.zero)

    func now() -> Date { Date().addingTimeInterval(ahead.value) }

    func advance(by interval: TimeInterval) {
        ahead.update { $0 += interval }
    }
}
