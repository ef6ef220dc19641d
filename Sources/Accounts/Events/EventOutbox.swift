package import Foundation

/// Queues events in the transaction that makes the change.
package protocol EventOutbox: Sendable {
    /// Writes a delivery for each webhook that subscribes to the event; runs no statement if there is none.
    func announce(_ events: [AccountEvent], application: Application.ID) async throws
}

package protocol EventDeliveryStore: Sendable {
    /// The deliveries of one event, one for each webhook.
    func acknowledgements(of event: UUID, application: Application.ID) async throws -> [EventDelivery]
    /// The deliveries of the account's last event of a kind.
    func acknowledgements(
        ofLast kind: AccountEvent.Kind, about uid: UUID, application: Application.ID
    ) async throws -> [EventDelivery]
    /// Makes the unacknowledged deliveries due now, including abandoned ones, but not those being attempted.
    func retryUnacknowledged(of event: UUID, application: Application.ID) async throws
}

/// The delivery of an event to one webhook.
package struct EventDelivery: Sendable, Equatable {
    package enum Status: Sendable, Equatable {
        case pending
        case acknowledged(at: Date)
        /// The delivery was abandoned after repeated failures; it is attempted again only after `retryUnacknowledged`.
        case givenUp(at: Date)
    }

    package let event: UUID
    /// The webhook's URL, which identifies it.
    package let webhook: String
    package let name: String
    package let status: Status
    package let attempts: Int
    /// Why the last attempt failed, for example `http-500`.
    package let failure: String?

    package init(event: UUID, webhook: String, name: String, status: Status, attempts: Int, failure: String?) {
        (self.event, self.webhook, self.name, self.status) = (event, webhook, name, status)
        (self.attempts, self.failure) = (attempts, failure)
    }
}
