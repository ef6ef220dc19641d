import Accounts
import Foundation

/// The wall clock, ahead of the real one by as much as a test says.
final class ManualTime: TimeSource {
    private let ahead = Observed(TimeInterval.zero)

    func now() -> Date { Date().addingTimeInterval(ahead.value) }

    func advance(by interval: TimeInterval) {
        ahead.update { $0 += interval }
    }
}
