import Foundation

/// Measures how long a job takes while all threads are busy.
struct Calibration {
    let threads: Int

    /// Runs `measure` five times on each thread, and returns the median of the results; `nil` if all runs failed.
    func median(of measure: @escaping @Sendable () throws -> Duration) async -> Duration? {
        let durations = await withTaskGroup(of: [Duration].self) { group in
            for _ in 0..<threads {
                // All threads measure at once, as they compete for the processor in service.
                group.addTask { await inThread { (0..<5).compactMap { _ in try? measure() } } }
            }
            return await group.reduce(into: []) { $0 += $1 }.sorted()
        }
        return durations.isEmpty ? nil : durations[durations.count / 2]
    }

    /// Runs the body on a new thread with the priority of hashing threads.
    private func inThread<Output: Sendable>(_ body: @escaping @Sendable () -> Output) async -> Output {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                HashingPriority.lower()
                continuation.resume(returning: body())
            }
            thread.name = "calibration"
            thread.start()
        }
    }
}
