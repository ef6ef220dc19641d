package import Foundation

/// An entry of a queue that a worker has leased.
package protocol QueueEntry: Sendable {
    /// The entries that share concurrent places, such as those of a webhook; a stalled lane does not delay others.
    associatedtype Lane: Hashable & Sendable
    var lane: Lane { get }
    var createdAt: Date { get }
    /// When an administrator had the entry delivered again; `nil` if none did.
    var requeuedAt: Date? { get }
    /// The number of earlier delivery attempts.
    var attempts: Int { get }
}

extension QueueEntry {
    package var requeuedAt: Date? { nil }
}

/// A queue in the database; a leased entry is due again when the lease ends, in case the worker has crashed.
package protocol LeasedQueue<Entry>: Sendable {
    associatedtype Entry: QueueEntry
    /// Takes due entries, in each lane at most as many as it has places, and hides them from other workers for `lease`.
    func take(_ places: [Entry.Lane: Int], lease: Duration) async throws -> [Entry]
    /// Marks an entry as delivered and deletes the secrets in it.
    func markDelivered(_ entry: Entry) async throws
    /// Makes an entry due again after `delay`; if `delay` is `nil`, marks the entry as abandoned.
    func markFailed(_ entry: Entry, reason: String, retryAfter delay: Duration?) async throws
    /// Yields when entries may have become due; some entries become due without a notification.
    var arrivals: AsyncStream<Void> { get }
}
