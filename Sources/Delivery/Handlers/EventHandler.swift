package import Accounts
package import Foundation
package import Logging
package import ProviderKit

/// Posts account events to the configured webhooks.
///
/// Each webhook is a lane of the queue, with its own limit of concurrent requests, so that one that hangs does not
/// delay the others.
package struct EventHandler: QueueHandler {
    package static let settings = QueueSettings(
        concurrency: 4, attempt: .seconds(30), lease: .seconds(60), grace: .seconds(20), sweep: .seconds(10),
        retry: .webhooks)

    package static let log = QueueLog(
        queue: "events", delivered: "Event acknowledged", retried: "Event not acknowledged yet",
        givenUp: "Event given up", inDoubt: "Event left in doubt",
        unrecorded: "The queue could not be updated after an event was posted; it will be posted again",
        cancelled: "Shutdown leaves events in doubt",
        unconfigured: "A webhook is no longer configured: its events wait to be given up",
        swept: "Events given up: their webhooks are no longer configured")

    /// The deadline for one request.
    private static let deadline: Duration = .seconds(15)
    /// How long deliveries to a webhook that is no longer configured are kept after they were due.
    private static let overdue: Duration = .seconds(300)

    package let queue: any LeasedQueue<TakenDelivery>
    private let events: any EventQueue
    private let webhooks: CurrentWebhooks
    private let http: any HTTPPosting

    package init(queue events: some EventQueue, webhooks: CurrentWebhooks, by http: any HTTPPosting) {
        queue = events
        self.events = events
        self.webhooks = webhooks
        self.http = http
    }

    package var lanes: [String] { webhooks.urls }

    package func deliver(_ entry: TakenDelivery, at now: Date) async throws -> Bool {
        guard let webhook = webhooks.webhook(in: entry.webhook) else {
            throw DeliveryError.notConfigured
        }
        do {
            try await http.deliver(try webhook.request(entry, at: now), within: Self.deadline)
            return true
        } catch DeliveryError.gatewayRefused(let status) {
            // No response counts as a permanent failure: receivers may be misconfigured for a while, and an erasure
            // waits for them.
            throw DeliveryError.gatewayDeferred(status: status)
        }
    }

    package func sweep() async throws -> Int {
        try await events.giveUp(
            allBut: lanes + webhooks.logoutLanes, overdue: Self.overdue, reason: DeliveryError.notConfigured.reason)
    }

    package func metadata(of entry: TakenDelivery) -> Logger.Metadata {
        let name = webhooks.webhook(in: entry.webhook)?.name ?? "not configured"
        return [
            "event": "\(entry.event.text)", "kind": "\(entry.kind)", "webhook": "\(name)",
            "application": "\(entry.applicationName)",
        ]
    }
}
