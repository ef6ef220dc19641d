package import Foundation
package import ProviderKit

/// An event for one webhook that a worker has taken.
package struct TakenDelivery: QueueEntry {
    package let event: UUID
    /// The webhook's URL.
    package let webhook: String
    package let application: Application.ID
    package let applicationName: String
    /// Not an `AccountEvent.Kind`: a newer version of the server may have written it.
    package let kind: String
    package let uid: UUID
    package let details: [String: JSONValue]
    package let createdAt: Date
    package let attempts: Int

    package init(
        event: UUID, webhook: String, application: Application.ID, applicationName: String, kind: String, uid: UUID,
        details: [String: JSONValue], createdAt: Date, attempts: Int
    ) {
        self.event = event
        self.webhook = webhook
        self.application = application
        self.applicationName = applicationName
        self.kind = kind
        self.uid = uid
        self.details = details
        self.createdAt = createdAt
        self.attempts = attempts
    }

    package var lane: String { webhook }
}

/// The workers' side of the events.
package protocol EventQueue: LeasedQueue<TakenDelivery> {
    /// Gives up deliveries to webhooks other than these that have been due for `overdue`.
    ///
    /// Newer ones stay: another replica may have read of a webhook that this one does not know yet.
    /// - Returns: how many deliveries were given up.
    func giveUp(allBut webhooks: [String], overdue: Duration, reason: String) async throws -> Int
}
