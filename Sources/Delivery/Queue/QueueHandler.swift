package import Accounts
package import Foundation
package import Logging

/// What `QueueWorker` needs to know about one queue: how an entry is delivered, and how often that is tried.
package protocol QueueHandler: Sendable {
    associatedtype Entry: QueueEntry

    static var settings: QueueSettings { get }
    static var log: QueueLog { get }

    var queue: any LeasedQueue<Entry> { get }
    /// The lanes to take entries from, by the current configuration.
    var lanes: [Entry.Lane] { get }

    /// Makes one attempt to deliver an entry.
    ///
    /// - Returns: `false` for an entry that is complete without being sent, which is not counted.
    /// - Throws: `DeliveryError` or `CancellationError`; any other error counts as a lost connection.
    func deliver(_ entry: Entry, at now: Date) async throws -> Bool
    /// Gives up entries that no lane will take any more, and returns their number.
    func sweep() async throws -> Int
    /// Describes an entry in the log, without secrets and addresses.
    func metadata(of entry: Entry) -> Logger.Metadata
}

extension QueueHandler {
    package func sweep() async throws -> Int { 0 }
}

package struct QueueSettings: Sendable {
    /// Entries of each lane under way at once.
    package var concurrency: Int
    package var tick: Duration = .seconds(1)
    /// The limit for one attempt, whatever the handler's own deadlines.
    package var attempt: Duration
    /// Must be longer than an attempt; otherwise another worker would deliver the same entry meanwhile.
    package var lease: Duration
    package var grace: Duration
    /// The interval between sweeps; `nil` if the queue needs none.
    package var sweep: Duration?
    package var retry: RetryPolicy
}

/// The log messages of one queue's worker.
package struct QueueLog: Sendable {
    package let queue: String
    package var deliveredLevel = Logger.Level.debug
    package let delivered: Logger.Message
    package let retried: Logger.Message
    package let givenUp: Logger.Message
    package let inDoubt: Logger.Message
    package let unrecorded: Logger.Message
    package let cancelled: Logger.Message
    package var unconfigured: Logger.Message = "A queue's entries wait for configuration"
    package var swept: Logger.Message = "Entries of a queue were given up"
}

/// What a worker has done since the process started.
package struct DeliveryStatistics: Sendable, Equatable {
    package var sent = 0
    /// Failed attempts that will be repeated.
    package var failed = 0
    package var givenUp = 0
    /// Entries taken from the queue whose outcome is not recorded yet.
    package var inFlight = 0
}
