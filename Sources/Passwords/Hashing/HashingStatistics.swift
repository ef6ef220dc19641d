/// The metrics of a `HashingPool`.
package struct HashingStatistics: Sendable, Equatable {
    package var workers: Int
    package var queued = 0
    /// The number of places that are reserved for jobs of calls in progress.
    package var reserved = 0
    package var running = 0
    package var refusals: [HashingRefusal: Int] = [:]
    /// The number of jobs whose client disconnected while they waited.
    package var abandoned = 0
    /// The moving average of a job's duration.
    package var averageDuration: Duration
    /// The durations of all jobs that ran, including failed ones.
    package var durations = DurationHistogram(bounds: [0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5])
    /// The times that those jobs waited for a thread.
    package var waits = DurationHistogram(bounds: [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5])

    package var done: Int { durations.count }
    package var rejected: Int { refusals.values.reduce(0, +) }
}
