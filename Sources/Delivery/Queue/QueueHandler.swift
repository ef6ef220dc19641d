package import Accounts
package import Foundation
package import Logging

/// How the entries of one queue are delivered, and how often an attempt is repeated.
///
/// A queue is divided into lanes, such as one for each webhook. Each lane has its own limit of concurrent attempts.
package protocol QueueHandler: Sendable {
    associatedtype Entry: QueueEntry

    static var settings: QueueSettings { get }
    static var log: QueueLog { get }
    var queue: any LeasedQueue<Entry> { get }
    /// The lanes to take entries from, according to the current configuration.
    var lanes: [Entry.Lane] { get }

    /// Makes one attempt to deliver an entry.
    /// - Returns: `false` if the entry is complete without being sent; it is then not counted as sent.
    /// - Throws: `DeliveryError` or `CancellationError`; any other error counts as a lost connection.
    func deliver(_ entry: Entry, at now: Date) async throws -> Bool
    /// Gives up entries whose lane no longer exists, and returns their number.
    func sweep() async throws -> Int
    /// The metadata that describes an entry in the log, without secrets and addresses.
    func metadata(of entry: Entry) -> Logger.Metadata
    /// Counts how an attempt has ended.
    func count(_ outcome: AttemptOutcome, of entry: Entry)
}

extension QueueHandler {
    package func sweep() async throws -> Int { 0 }
    package func count(_ outcome: AttemptOutcome, of entry: Entry) {}
}

/// How an attempt to deliver an entry has ended.
package enum AttemptOutcome: String, Sendable {
    case sent
    /// It will be repeated.
    case failed
    case givenUp
}

package struct QueueSettings: Sendable {
    /// The largest number of entries of each lane that are delivered at the same time.
    package var concurrency: Int
    package var tick: Duration = .seconds(1)
    /// The time limit for one attempt, regardless of the handler's own deadlines.
    package var attempt: Duration
    /// How long an entry is reserved for this worker; longer than an attempt, so that no other worker delivers the
    /// entry meanwhile.
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

/// The counters of a worker since the process started.
package struct DeliveryStatistics: Sendable, Equatable {
    package var sent = 0
    /// Failed attempts that will be repeated.
    package var failed = 0
    package var givenUp = 0
    /// Entries taken from the queue whose outcome is not recorded yet.
    package var inFlight = 0
}

/// Computes when to repeat a failed attempt: exponential back-off with full jitter, so that entries that failed
/// together are not retried together.
package struct RetryPolicy: Sendable {
    /// The limit of the random delay after the first failure; each further failure doubles the limit.
    package var firstLimit: Duration = .seconds(30)
    package var lastLimit: Duration = .seconds(3600)
    /// The largest limit for entries that lack configuration; it is short, so that they are sent soon after it is
    /// added.
    package var lastLimitUnconfigured: Duration = .seconds(300)
    /// The minimum delay.
    package var shortest: Duration = .seconds(1)
    /// An entry that fails at this age or later is given up.
    package var giveUpAge: Duration = .seconds(24 * 3600)
    /// The same for an unknown provider, which may be one that only another replica has loaded so far.
    package var giveUpAgeOfUnknownProvider: Duration = .seconds(300)

    /// The delays after the first failures, instead of random ones; after the last, the entry is given up.
    package var delays: [Duration]?

    package init() {}

    /// The policy for webhooks, which retries for longer than the 72 hours that an erasure waits for acknowledgements.
    package static var webhooks: RetryPolicy {
        var policy = RetryPolicy()
        policy.firstLimit = .seconds(5)
        policy.giveUpAge = .seconds(96 * 3600)
        return policy
    }

    /// Returns the delay before the next attempt, or `nil` to give up.
    ///
    /// Entries with permanent errors are given up at once, others at `giveUpAge`; an entry that only lacks
    /// configuration is never given up. `attempts` is the number of attempts before this failure, `age` is the entry's
    /// age, and `fraction` is random, in 0..<1.
    package func delay(after error: DeliveryError, attempts: Int, age: Duration, fraction: Double) -> Duration? {
        guard !error.isPermanent else { return nil }
        if let delays { return attempts < delays.count ? delays[max(0, attempts)] : nil }
        let (limit, giveUpAge): (Duration, Duration?) =
            switch error {
            case .notConfigured: (lastLimitUnconfigured, nil)
            case .unknownProvider: (lastLimitUnconfigured, giveUpAgeOfUnknownProvider)
            default: (lastLimit, giveUpAge)
            }
        if let giveUpAge, age >= giveUpAge { return nil }
        let doubled = firstLimit * (1 << min(max(0, attempts), 20))
        return max(shortest, min(doubled, limit) * fraction)
    }
}
