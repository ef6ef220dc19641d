package import Accounts
internal import Crypto
package import Foundation
package import ProviderKit
internal import Synchronization

/// A receiver of account events according to the Standard Webhooks specification
/// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
package struct Webhook: Sendable {
    /// Identifies the webhook in the queue; without a login, which may change.
    package var url: String { endpoint.url }
    /// What identified it in deliveries that an earlier version of the server has announced: the URL with its login.
    private let formerURL: String
    /// The name that is shown to people.
    package let name: String
    package let events: Set<AccountEvent.Kind>
    private let endpoint: HTTPEndpoint
    private let signingKey: SymmetricKey

    /// - Throws: `DeliveryError.invalidSetting` for an invalid URL, or a secret that is not `whsec_` and base64.
    package init(name: String, url: String, secret: String, events: Set<AccountEvent.Kind>) throws(DeliveryError) {
        let prefix = "whsec_"
        guard secret.hasPrefix(prefix), let key = Data(base64Encoded: String(secret.dropFirst(prefix.count))),
            !key.isEmpty
        else { throw .invalidSetting(field: "webhooks.secret", reason: "is not whsec_ and base64") }
        endpoint = try HTTPEndpoint(url, field: "webhooks.url")
        formerURL = url
        self.name = name
        self.events = events
        signingKey = SymmetricKey(data: key)
    }

    /// The `url` of a webhook with this setting; `nil` if the setting is invalid.
    package static func url(of setting: String) -> String? { (try? HTTPEndpoint(setting, field: "webhooks.url"))?.url }

    /// Its names in the queue.
    var lanes: Set<String> { [url, formerURL] }
}

extension Webhook: CustomStringConvertible, CustomReflectable {
    package var description: String { name }

    /// Contains only the name, because the URL may contain a login.
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension Webhook {
    private struct Payload: Encodable {
        let type: String
        let timestamp: String
        let data: [String: JSONValue]
    }

    /// Creates the request for one attempt: each attempt has the same body and id, but its own time and signature.
    ///
    /// If the account is erased between two attempts, the `timestamp` in the body of the later one is only the day.
    func request(_ delivery: TakenDelivery, at now: Date) throws -> FetchRequest {
        let data: [String: JSONValue] = [
            "uid": .string(delivery.uid.text), "application": .string(delivery.applicationName),
        ]
        let payload = Payload(
            type: delivery.kind,
            timestamp: delivery.createdAt.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            data: delivery.details.merging(data) { $1 })
        return try request(payload, id: delivery.event.text, at: now)
    }

    /// Posts the event `gatehouse.test`, whether or not the webhook subscribes to anything.
    ///
    /// - Throws: `DeliveryError`, `CancellationError`.
    package func test(
        event: UUID, application: String, by http: any HTTPPosting, within deadline: Duration
    ) async throws {
        let now = Date()
        let payload = Payload(
            type: "gatehouse.test", timestamp: now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            data: ["application": .string(application)])
        try await http.deliver(try request(payload, id: event.text, at: now), within: deadline)
    }

    private func request(_ payload: Payload, id: String, at now: Date) throws -> FetchRequest {
        var request = try endpoint.post(json: payload)
        let timestamp = String(Int(now.timeIntervalSince1970))
        request.headers["webhook-id"] = id
        request.headers["webhook-timestamp"] = timestamp
        request.headers["webhook-signature"] = signature(
            id: id, timestamp: timestamp, body: request.content?.bytes ?? [])
        return request
    }

    func signature(id: String, timestamp: String, body: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(id).\(timestamp).".utf8) + body, using: signingKey)
        return "v1,\(Data(code).base64EncodedString())"
    }
}

/// The configured receivers of events and of logout tokens, replaced when the configuration is reloaded.
package final class CurrentWebhooks: WebhookSubscriptions {
    /// The URIs of the configured clients of each OpenID provider, by their ids.
    package typealias LogoutURIs = [Application.ID: [String: String]]

    private let current: Mutex<(webhooks: [Webhook], logoutURIs: LogoutURIs)>

    package init(_ webhooks: [Webhook], logoutURIs: LogoutURIs = [:]) { current = Mutex((webhooks, logoutURIs)) }

    package var all: [Webhook] { current.withLock { $0.webhooks } }
    package var urls: [String] { all.flatMap(\.lanes) }

    /// The queue's names for the clients that receive logout tokens.
    package var logoutLanes: [String] {
        let uris = current.withLock { $0.logoutURIs }
        let configured = Set(uris.values.flatMap(\.values)).sorted().map { LogoutDelivery.lane(of: $0) }
        return configured + (uris.isEmpty ? [] : LogoutDelivery.registeredLanes)
    }

    func webhook(in lane: String) -> Webhook? { all.first { $0.lanes.contains(lane) } }

    package func replace(with webhooks: [Webhook]) { current.withLock { $0.webhooks = webhooks } }
    package func replace(logoutURIs: LogoutURIs) { current.withLock { $0.logoutURIs = logoutURIs } }

    package func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber] {
        all.filter { $0.events.contains(kind) }.map { WebhookSubscriber(url: $0.url, name: $0.name) }
    }

    package func logoutURIs(of application: Application.ID) -> [String: String] {
        current.withLock { $0.logoutURIs[application] ?? [:] }
    }
}
