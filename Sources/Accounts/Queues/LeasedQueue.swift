package import Foundation

/// An entry of a queue, leased by a worker.
package protocol QueueEntry: Sendable {
    /// Entries of one lane share its places, so that a lane that stalls does not delay the others.
    associatedtype Lane: Hashable & Sendable

    var lane: Lane { get }
    var createdAt: Date { get }
    /// How often delivery was tried before.
    var attempts: Int { get }
}

/// The workers' side of a queue in the database; any replica's worker may take any entry.
///
/// A lease is only a later due time: if a worker dies, its entries are due again when their leases end.
package protocol LeasedQueue<Entry>: Sendable {
    associatedtype Entry: QueueEntry

    /// Takes due entries, up to the number of places of their lane, and hides them from other workers for `lease`.
    func take(_ places: [Entry.Lane: Int], lease: Duration) async throws -> [Entry]
    /// Marks an entry as delivered and deletes the secrets in it.
    func markDelivered(_ entry: Entry) async throws
    /// Makes an entry due again after `delay`; without one, marks it as given up.
    func markFailed(_ entry: Entry, reason: String, retryAfter delay: Duration?) async throws
    /// Yields when entries may have become due. Not every one is announced.
    var arrivals: AsyncStream<Void> { get }
}
