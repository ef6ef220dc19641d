import Foundation
import GatehouseServer

extension Contender {
    /// Repeats work on each thread; `makeWork` makes each thread's own work.
    static func rawLoop(
        _ name: String, threads: Int = ProcessInfo.processInfo.activeProcessorCount, seconds: Double,
        makeWork: @escaping @Sendable () throws -> () throws -> Void
    ) -> Contender {
        Contender(name: name, seconds: seconds) {
            { seconds in
                try await withThrowingTaskGroup(of: Double.self) { group in
                    for _ in 0..<threads {
                        // All threads work at the same time.
                        group.addTask { try await onOwnThread { try rate(of: makeWork(), for: seconds) } }
                    }
                    return Count(perSecond: try await group.reduce(0, +))
                }
            }
        }
    }

    /// Returns the runs per second.
    ///
    /// A run in progress at the end is finished and counted with its time.
    private static func rate(of work: () throws -> Void, for seconds: Double) throws -> Double {
        let start = ContinuousClock.now
        var count = 0.0
        var elapsed = 0.0
        repeat {
            try work()
            count += 1
            elapsed = (.now - start) / .seconds(1)
        } while elapsed < seconds
        return count / elapsed
    }
}
