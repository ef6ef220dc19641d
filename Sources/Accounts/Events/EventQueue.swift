package import Foundation
package import ProviderKit

/// A delivery of an event to one webhook that a worker has taken from the queue.
package struct TakenDelivery: QueueEntry {
    package let event: UUID
    package let webhook: String
    package let application: Application.ID
    package let applicationName: String
    /// The raw kind instead of an `AccountEvent.Kind`, because a newer version of the server may have written it.
    package let kind: String
    package let uid: UUID
    package let details: [String: JSONValue]
    package let createdAt: Date
    package let requeuedAt: Date?
    package let attempts: Int

    package init(
        event: UUID, webhook: String, application: Application.ID, applicationName: String, kind: String, uid: UUID,
        details: [String: JSONValue], createdAt: Date, requeuedAt: Date? = nil, attempts: Int
    ) {
        (self.event, self.webhook, self.application) = (event, webhook, application)
        (self.applicationName, self.kind, self.uid, self.details) = (applicationName, kind, uid, details)
        (self.createdAt, self.requeuedAt, self.attempts) = (createdAt, requeuedAt, attempts)
    }

    package var lane: String { webhook }
}

/// The queue of event deliveries, as its workers use it.
package protocol EventQueue: LeasedQueue<TakenDelivery> {
    /// Abandons deliveries that are due for `overdue` and not to `webhooks`; another replica may know newer webhooks.
    func giveUp(allBut webhooks: [String], overdue: Duration, reason: String) async throws -> Int
}
