import Foundation

/// Measures what a job takes while every thread has one.
struct Calibration {
    let threads: Int
    /// On each thread, in a row.
    private let runs = 5

    init(threads: Int) {
        self.threads = threads
    }

    /// - Returns: `nil` if all failed.
    func median(of measure: @escaping @Sendable () throws -> Duration) async -> Duration? {
        let durations = await withTaskGroup(of: [Duration].self) { group in
            for _ in 0..<threads {
                group.addTask { await inThread { (0..<runs).compactMap { _ in try? measure() } } }
            }
            return await group.reduce(into: []) { $0 += $1 }.sorted()
        }
        return durations.isEmpty ? nil : durations[durations.count / 2]
    }

    /// One of its own, of the priority that jobs have.
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
