import Foundation
import GatehouseTesting

/// A clock that only a test advances.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let id: UUID
        let duration: Duration
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
        var cancelled: Set<UUID> = []
    }

    private let state = Observed(State())

    var now: Instant { state.value.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.update { state in
                    guard !state.cancelled.contains(id) else { return true }
                    state.sleepers.append(
                        Sleeper(
                            id: id, duration: state.now.duration(to: deadline), deadline: deadline,
                            continuation: continuation))
                    return false
                }
                if isOver { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.update { state in
                state.cancelled.insert(id)
                let sleeper = state.sleepers.first { $0.id == id }
                state.sleepers.removeAll { $0.id == id }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Returns when `count` tasks sleep, each for exactly `duration`.
    func waitForSleepers(of duration: Duration, count: Int = 1) async {
        await state.wait { state in
            state.sleepers.filter { $0.duration == duration }.count >= count
        }
    }

    func advance(by duration: Duration) {
        let woken = state.update { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let woken = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            return woken
        }
        for sleeper in woken {
            sleeper.continuation.resume()
        }
    }
}
