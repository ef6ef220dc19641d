import Synchronization

final class ManualClock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock(\.self) }

    func advance(by duration: Duration) {
        instant.withLock { $0 += duration }
    }
}
