/// The jobs that wait for a thread, first come, first served.
///
/// Its length is bounded by `HashingPool`, to so few that looking through an array is fine.
struct HashingQueue {
    typealias ID = UInt64

    struct Job: Sendable {
        let id: ID
        /// Does the work and returns what answers the caller, which the pool calls once its statistics are right.
        let run: @Sendable () -> () -> Void
        let giveUp: @Sendable (any Error) -> Void
    }

    private var jobs: [Job] = []

    var count: Int { jobs.count }

    mutating func append(_ job: Job) {
        jobs.append(job)
    }

    mutating func removeFirst() -> Job? {
        jobs.isEmpty ? nil : jobs.removeFirst()
    }

    /// - Returns: nil when the job is no longer, or not yet, waiting.
    mutating func remove(_ id: ID) -> Job? {
        jobs.firstIndex { $0.id == id }.map { jobs.remove(at: $0) }
    }
}
