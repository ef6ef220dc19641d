internal import Accounts
internal import Administration
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProviderKit

extension AdminRoutes {
    /// What runs the server: queues, the audit, keys, locks and the configuration.
    var operations: [Endpoint] { queues + server }

    private var queues: [Endpoint] {
        let queues = QueueOperations(useCases: useCases)
        return [
            queues.erasures.at(
                .get, "/erasures", "Deletions of accounts, the newest first",
                takes: .list(.phase),
                returns: .json { ListPayload($0) }),
            queues.retryErasure.at(
                .post, "/erasures/{receipt}/retry", "Asks the pending processors of an erasure again",
                takes: .named(Act<NoFields>.self, by: "receipt"), returns: .json),
            queues.webhooks.at(
                .get, "/webhooks", "The webhooks, and what waits for them in this application", takes: .list(),
                returns: .json { ListPayload($0) }),
            queues.testWebhook.at(
                .post, "/webhooks/{webhook}/test", "Posts the event `gatehouse.test` to a webhook",
                takes: .named(Act<NoFields>.self, by: "webhook"), returns: .json),
            queues.replay.at(
                .post, "/webhooks/{webhook}/replay", "Posts kept events to a webhook again",
                takes: .named(Act<ReplayBody>.self, by: "webhook"), returns: .json(status: .accepted)),
            queues.deliveries.at(
                .get, "/deliveries", "Deliveries of events, the newest first", takes: .list(.state),
                returns: .json { ListPayload($0) }),
            queues.retryDelivery.at(
                .post, "/deliveries/{event}/retry", "Delivers an event again to those that have not acknowledged it",
                takes: .named(Act<NoFields>.self, by: "event"), returns: .json { ListPayload($0) }),
            queues.messages.at(
                .get, "/messages", "Mails and text messages, the newest first", takes: .list(.state),
                returns: .json { ListPayload($0) }),
            queues.retryMessage.at(
                .post, "/messages/{id}/retry", "Sends a message again that was not sent",
                takes: .named(Act<NoFields>.self), returns: .json),
        ]
    }

    private var server: [Endpoint] {
        let server = ServerOperations(useCases: useCases, limitedRoutes: limitedRoutes)
        return [
            server.audit.at(
                .get, "/audit", "The audit, the newest events first",
                takes: .list(
                    .init("event", help: "The name of an event."),
                    .init("account", help: "A uid, or the pseudonym of an account."),
                    .init("actor", help: "`key:ID`, `cli:HOST` or `account:UID`."),
                    .time("since", "Events from this time on."), .time("until", "Events before this time.")),
                returns: .json { ListPayload($0) }),
            server.exportAudit.at(
                .get, "/audit/export", "The whole audit as lines of JSON, the oldest events first",
                takes: .query(.time("since", "Events from this time on.")), returns: .lines),
            server.auditState.at(
                .get, "/audit/state", "How far the audit of all applications is sealed", takes: .nothing, returns: .json
            ),
            server.keys.at(
                .get, "/keys", "The signing keys, the newest first", takes: .list(),
                returns: .json { ListPayload($0) }),
            server.rotateKeys.at(
                .post, "/keys/rotate", "Signs with new keys", takes: .json, returns: .json { ListPayload($0) }),
            server.retireKey.at(
                .post, "/keys/{kid}/retire", "Has the tokens of a key refused",
                takes: .named(RetirementBody.self, by: "kid"), returns: .json),
            server.searchLocks.at(
                .post, "/limits/search", "What locks a person or a client out", takes: .json, returns: .json),
            server.liftLocks.at(
                .post, "/limits/lift", "Lifts what locks a person or a client out", takes: .json, returns: .json),
            server.configuration.at(
                .get, "/configuration", "The configuration in force", takes: .nothing, returns: .json),
        ]
    }
}

extension OperationDescription.Parameter {
    fileprivate static let phase = Self(
        "status", help: "`scheduled`, `restored` or `erased`.", schema: .choice(of: ErasureStatus.Phase.self))
    fileprivate static let state = Self(
        "state", help: "`pending`, `delivered` or `failed`.", schema: .choice(of: QueueState.self))
}

extension ResponseShape<AuditExport> {
    /// Responds with a line of JSON for each event.
    fileprivate static var lines: Self {
        let type = "application/x-ndjson"
        return Self(responses: [ReturnedResponse(contentType: type)]) { export, context in
            .download("audit.jsonl", type: type, context: context) { body in
                let name = export.application.name
                try await export.reports.forEachPage(since: export.since, in: export.application) { events in
                    let lines = try events.map { event in
                        try JSONEncoder.stable.encode(event.exported(of: name)) + Data("\n".utf8)
                    }
                    try await body.write(ByteBuffer(bytes: lines.joined()))
                }
            }
        }
    }
}
