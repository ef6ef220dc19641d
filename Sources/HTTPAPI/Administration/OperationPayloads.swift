internal import Accounts
package import Administration
internal import Foundation
internal import ProviderKit

extension ListedErasure: ResponsePayload, NamedList {
    static let listName = "AdminErasureList"

    package static let fields = ResponseFields<Self>("AdminErasure") {
        Field("receipt", \.receipt)
        Field("uid", \.uid)
        Field("status", as: .choice(of: ErasureStatus.Phase.self), \.phase.rawValue)
        Field("requestedAt", \.requestedAt)
        Field("purgeAfter", \.purgeAfter)
        // When the grace period ended, from which the processors have time to acknowledge.
        Field("beganAt", orNull: \.beganAt)
        Field("restoredAt", orNull: \.restoredAt)
        Field("erasedAt", orNull: \.erasedAt)
        Field("processors") { $0.processors.map(ListedProcessor.init) }
    }
}

/// A service that an erasure waits for.
struct ListedProcessor: ResponsePayload {
    let processor: Processor

    static let fields = ResponseFields<Self>("AdminErasureProcessor") {
        Field(flattening: \.processor)
        Field("attempts", \.processor.attempts)
    }
}

/// A webhook and what waits for it in the application.
struct ListedWebhook: ResponsePayload, NamedList {
    let webhook: ConfiguredWebhook
    let backlog: WebhookBacklog

    static let listName = "AdminWebhookList"

    static let fields = ResponseFields<Self>("AdminWebhook") {
        Field("id", \.webhook.id)
        Field("name", \.webhook.name)
        Field("host", \.webhook.host)
        Field("events") { $0.webhook.events.map(\.rawValue) }
        // `failing` while an event waits that could not be delivered yet.
        Field("state", as: .enumeration(["ok", "failing"])) { $0.backlog.failure == nil ? "ok" : "failing" }
        // Counts stop at 1000.
        Field("pending", \.backlog.pending)
        Field("failed", \.backlog.failed)
        Field("oldestPendingAt", orNull: \.backlog.oldestPendingAt)
        Field("failure", orNull: \.backlog.failure)
    }
}

/// The outcome of a test event.
struct WebhookTestPayload: ResponsePayload {
    let event: UUID
    let failure: String?

    static let fields = ResponseFields<Self>("AdminWebhookTest") {
        Field("event", \.event)
        Field("delivered") { $0.failure == nil }
        Field("failure", orNull: \.failure)
    }
}

struct ReplayPayload: ResponsePayload {
    let events: Int

    static let fields = ResponseFields<Self>("AdminReplay") { Field("events", \.events) }
}

extension QueueProgress: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminQueueProgress") {
        Field("state", as: .choice(of: QueueState.self), \.state.rawValue)
        Field("attempts", \.attempts)
        Field("failure", orNull: \.failure)
        Field("createdAt", \.createdAt)
        Field("dueAt", orNull: { $0.state == .pending ? $0.dueAt : nil })
        Field("deliveredAt", orNull: { $0.state == .delivered ? $0.endedAt : nil })
        Field("failedAt", orNull: { $0.state == .failed ? $0.endedAt : nil })
    }
}

extension ListedDelivery: ResponsePayload, NamedList {
    static let listName = "AdminDeliveryList"

    package static let fields = ResponseFields<Self>("AdminDelivery") {
        Field("event", \.event)
        Field("type", \.type)
        Field("uid", \.uid)
        // The name of the webhook, or the id of the client that a logout token is for.
        Field("webhook", \.name)
        Field(flattening: \.progress)
    }
}

extension ListedMessage: ResponsePayload, NamedList {
    static let listName = "AdminMessageList"

    package static let fields = ResponseFields<Self>("AdminMessage") {
        Field("id", \.id)
        Field("type", \.topic)
        Field("channel", \.channel)
        Field(flattening: \.progress)
    }
}

/// Which events a webhook gets again.
struct ReplayBody: RequestPayload {
    let since: SentTime
    let until: SentTime
    let types: [String]?

    static let fields = RequestFields(
        Self.init, .init("since"), .init("until"),
        .init("types", .array(of: .choice(of: AccountEvent.Kind.self))))
}

/// A time of RFC 3339 in a request.
struct SentTime: RequestValue {
    let date: Date

    static var schema: JSONSchema { Date.schema }

    init(from decoder: any Decoder) throws {
        guard let time = Timestamp(try decoder.singleValueContainer().decode(String.self)) else {
            throw DecodingError.typeMismatch(
                Self.self,
                .init(codingPath: decoder.codingPath, debugDescription: "must be a time such as 2026-05-03T08:00:00Z"))
        }
        date = time.date
    }
}
