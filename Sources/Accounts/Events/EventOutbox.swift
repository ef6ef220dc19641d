package import Foundation

/// Queues events in the transaction that makes the change.
package protocol EventOutbox: Sendable {
    /// Writes a delivery for each webhook that subscribes to the event; runs no statement if there is none.
    func announce(_ events: [AccountEvent], application: Application.ID) async throws
}

package protocol EventDeliveryStore: Sendable {
    /// The deliveries of the account's last event of a kind, one for each webhook.
    ///
    /// `givenUpAt` is when the delivery was abandoned after repeated failures, or `nil`.
    func deliveries(
        ofLast kind: AccountEvent.Kind, about uid: UUID, application: Application.ID
    ) async throws -> [(event: UUID, givenUpAt: Date?)]

    /// Makes the unacknowledged deliveries due now, including abandoned ones, but not those being attempted.
    func retryUnacknowledged(of event: UUID, application: Application.ID) async throws
}
