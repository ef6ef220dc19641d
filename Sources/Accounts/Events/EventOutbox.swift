package import Foundation

/// Where events are written, in the transaction of what they tell about.
package protocol EventOutbox: Sendable {
    /// Writes one delivery for each webhook that subscribes to the event by now; without any, it asks nothing of the
    /// database.
    func announce(_ events: [AccountEvent], application: Application.ID) async throws

    /// What became of one event, webhook by webhook.
    func acknowledgements(of event: UUID, application: Application.ID) async throws -> [EventDelivery]

    /// The same for the account's last event of a kind, for whoever doesn't know its id.
    func acknowledgements(
        ofLast kind: AccountEvent.Kind, about uid: UUID, application: Application.ID
    ) async throws -> [EventDelivery]

    /// Makes whatever is not acknowledged due now, what was given up too; an attempt that is under way stays alone.
    func retryUnacknowledged(of event: UUID, application: Application.ID) async throws
}

/// An event on its way to one webhook.
package struct EventDelivery: Sendable, Equatable {
    package enum Status: Sendable, Equatable {
        case pending
        case acknowledged(at: Date)
        /// Nobody tries it again unless asked to.
        case givenUp(at: Date)
    }

    package let event: UUID
    /// The webhook's URL, which tells it from others.
    package let webhook: String
    /// What people read of it.
    package let name: String
    package let status: Status
    package let attempts: Int
    /// Why the last attempt failed, as in `http-500`.
    package let failure: String?

    package init(event: UUID, webhook: String, name: String, status: Status, attempts: Int, failure: String?) {
        self.event = event
        self.webhook = webhook
        self.name = name
        self.status = status
        self.attempts = attempts
        self.failure = failure
    }
}
