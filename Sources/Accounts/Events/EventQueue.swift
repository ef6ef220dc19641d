package import Foundation
package import ProviderKit

/// A delivery that a worker has taken for a while.
package struct TakenDelivery: Sendable {
    package let event: UUID
    /// The webhook's URL.
    package let webhook: String
    package let application: Application.ID
    package let applicationName: String
    /// Of the version that wrote it, which may know more kinds.
    package let kind: String
    package let uid: UUID
    package let details: [String: JSONValue]
    /// When it happened.
    package let createdAt: Date
    /// How often it was tried before.
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
}

/// The workers' side of the events; any replica's worker may take any delivery.
package protocol EventQueue: Sendable {
    /// Due deliveries, of each webhook at most as many as it has places, hidden from other workers for `lease`.
    func take(_ places: [String: Int], lease: Duration) async throws -> [TakenDelivery]
    func markAcknowledged(_ delivery: TakenDelivery) async throws
    /// Tries again after `delay`, or gives up visibly without one.
    func markFailed(_ delivery: TakenDelivery, reason: String, retryAfter delay: Duration?) async throws
    /// Gives up what nobody has taken for so long after it was due, and is for none of these webhooks.
    ///
    /// Not at once: another replica may know a webhook that this one has not read of yet.
    /// - Returns: how many deliveries that were.
    func giveUp(allBut webhooks: [String], overdue: Duration, reason: String) async throws -> Int
    /// An element whenever deliveries may have become due; a hint, not a promise.
    var arrivals: AsyncStream<Void> { get }
}
