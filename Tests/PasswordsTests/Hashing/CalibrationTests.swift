import Dispatch
import Synchronization
import Testing

@testable import Passwords

@Suite(.timeLimit(.minutes(1)))
struct CalibrationTests {
    private struct Failure: Error {}

    @Test func `every thread measures while the others do`() async {
        let rendezvous = Rendezvous(of: 3)
        let median = await Calibration(threads: 3).median { rendezvous.meet() ? .seconds(1) : .seconds(1000) }
        #expect(median == .seconds(1))
    }

    @Test func `the fastest and the slowest run are ignored`() async {
        let runs = Mutex(0)
        let median = await Calibration(threads: 1).median {
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            // One of the five runs fails.
            return try [1000, nil, 1, 7, 1][run - 1].map { .seconds($0) } ?? { throw Failure() }()
        }
        #expect(median == .seconds(7))
        #expect(await Calibration(threads: 2).median { throw Failure() } == nil)
    }
}

/// A barrier that opens once all expected threads wait at it.
private final class Rendezvous: Sendable {
    private struct State {
        var arrived = 0
        var hasFailed = false
    }

    private let state = Mutex(State())
    private let count: Int
    private let gate = DispatchSemaphore(value: 0)

    init(of count: Int) {
        self.count = count
    }

    /// - Returns: whether all threads arrived in time at their first meeting.
    func meet() -> Bool {
        let arrived = state.withLock { state in
            state.arrived += 1
            return state.arrived
        }
        if arrived == count {
            for _ in 1..<count { gate.signal() }
        } else if arrived < count, gate.wait(timeout: .now() + 10) == .timedOut {
            state.withLock { $0.hasFailed = true }
        }
        return state.withLock { !$0.hasFailed }
    }
}
