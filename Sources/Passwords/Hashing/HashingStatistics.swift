/// What a `HashingPool` has done and is doing, for the metrics.
package struct HashingStatistics: Sendable, Equatable {
    package var workers: Int
    package var queued = 0
    package var running = 0
    /// Jobs run to their end, failed ones included.
    package var done = 0
    /// Jobs refused because the queue was full.
    package var rejected = 0
    /// Jobs whose caller left while they waited.
    package var abandoned = 0
    /// Moving average of the time that one job takes.
    package var averageDuration: Duration
}
