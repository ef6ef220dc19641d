package import Accounts
package import Foundation

/// Whether something queued was delivered.
package enum QueueState: String, Sendable, CaseIterable {
    case pending
    /// The receiver has accepted it.
    case delivered
    /// It was given up, and is attempted again only if an administrator or an erasure asks for that.
    case failed
}

/// What has become of something queued.
package struct QueueProgress: Sendable {
    package let state: QueueState
    package let attempts: Int
    /// A code such as `http-500` or `smtp-550`.
    package let failure: String?
    package let createdAt, dueAt: Date
    /// When it was delivered or given up.
    package let endedAt: Date?

    package init(
        deliveredAt: Date?, failedAt: Date?, attempts: Int, failure: String?, createdAt: Date, dueAt: Date
    ) {
        state = deliveredAt != nil ? .delivered : failedAt != nil ? .failed : .pending
        (self.attempts, self.failure) = (attempts, failure)
        (self.createdAt, self.dueAt, endedAt) = (createdAt, dueAt, deliveredAt ?? failedAt)
    }
}

/// The delivery of an event to one webhook, or of a logout token to one client.
package struct ListedDelivery: Sendable {
    package let event: UUID
    /// The name of the webhook, or the id of the client.
    package let name: String
    package let type: String
    package let uid: UUID
    package let progress: QueueProgress

    package init(event: UUID, name: String, type: String, uid: UUID, progress: QueueProgress) {
        (self.event, self.name, self.type, self.uid, self.progress) = (event, name, type, uid, progress)
    }
}

/// A mail or a text message in the outbox, of which only its kind and its fate are known.
package struct ListedMessage: Sendable {
    package let id: UUID
    package let topic, channel: String
    package let progress: QueueProgress

    package init(id: UUID, topic: String, channel: String, progress: QueueProgress) {
        (self.id, self.topic, self.channel, self.progress) = (id, topic, channel, progress)
    }
}

package protocol DeliveryListStore: Sendable {
    /// The deliveries of the event `last` and of earlier ones, the newest first.
    func deliveries(
        _ state: QueueState?, upTo last: UUID?, atMost count: Int, application: Application.ID
    ) async throws -> [ListedDelivery]

    /// The deliveries of one event.
    func deliveries(of event: UUID, application: Application.ID) async throws -> [ListedDelivery]

    /// Makes the unacknowledged deliveries of an event due that are not under way, and records the act unless all of
    /// them were due already.
    func retryDeliveries(of event: UUID, by act: AdministrativeAct, application: Application.ID) async throws

    /// How many events of a webhook can be posted again; at most `most`.
    func countReplayable(_ replay: WebhookReplay, atMost most: Int, application: Application.ID) async throws -> Int

    /// Queues the events again, with their ids and times, and records the act if there are any.
    ///
    /// - Returns: the number of events.
    func replay(
        _ replay: WebhookReplay, atMost most: Int, by act: AdministrativeAct, application: Application.ID
    ) async throws -> Int

    /// What waits for each webhook, by its URL.
    func backlogs(of webhooks: [String], application: Application.ID) async throws -> [String: WebhookBacklog]
}

package protocol MessageListStore: Sendable {
    /// The messages before `id`, the newest first.
    func messages(
        _ state: QueueState?, before id: UUID?, atMost count: Int, application: Application.ID
    ) async throws -> [ListedMessage]

    func message(_ id: UUID, application: Application.ID) async throws -> ListedMessage?

    /// Makes an unsent message due unless it is under way, and records the act unless it was due already.
    func retryMessage(_ id: UUID, by act: AdministrativeAct, application: Application.ID) async throws
}
