import Foundation
import GatehouseServer

extension Contender {
    /// Runs a piece of work on a thread for each core, each with a piece of its own from `makeWork`.
    static func rawLoop(
        _ name: String, seconds: Double, makeWork: @escaping @Sendable () throws -> () throws -> Void
    ) -> Contender {
        Contender(name: name, seconds: seconds) {
            { seconds in
                try await withThrowingTaskGroup(of: Double.self) { group in
                    for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                        // One for each core, all at once.
                        group.addTask { try await onOwnThread { try rate(of: makeWork(), for: seconds) } }
                    }
                    return Count(perSecond: try await group.reduce(0, +))
                }
            }
        }
    }

    /// How often a second; a run that has begun is finished and counts with its time.
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
