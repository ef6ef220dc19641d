package import Accounts
package import Foundation

/// A webhook of the configuration in force.
package struct ConfiguredWebhook: Sendable, Equatable {
    /// The webhook's name if that is unique and fits in a path; otherwise the beginning of the SHA-256 of its URL.
    package let id: String
    package let name: String
    /// Identifies the webhook in the queue; it may contain a login, and so is not shown.
    package let url: String
    package let host: String
    package let events: [AccountEvent.Kind]

    package init(id: String, name: String, url: String, host: String, events: [AccountEvent.Kind]) {
        (self.id, self.name, self.url, self.host, self.events) = (id, name, url, host, events)
    }
}

/// The webhooks of all applications, as the configuration names them.
package protocol WebhookDirectory: Sendable {
    var webhooks: [ConfiguredWebhook] { get }

    /// Posts the event `gatehouse.test` to a webhook, signed as any other.
    ///
    /// - Returns: the code of the failure, such as `http-500`; `nil` if the webhook has accepted the event.
    func test(_ webhook: ConfiguredWebhook, event: UUID, application: Application) async throws -> String?
}

/// What waits for a webhook.
package struct WebhookBacklog: Sendable, Equatable {
    /// The most deliveries that are counted.
    package static let most = 1000

    /// Deliveries that are due or will be tried again.
    package var pending = 0
    package var oldestPendingAt: Date?
    /// The code of a failure of one of these.
    package var failure: String?
    /// Deliveries among the newest ones of the application that were given up.
    package var failed = 0

    package init() {}
}

/// The events that are posted to a webhook again.
package struct WebhookReplay: Sendable {
    package let webhook: ConfiguredWebhook
    package let since, until: Date
    /// `nil` for all.
    package let types: [String]?
}
