/// The subscriptions of webhooks to events in the current configuration.
package protocol WebhookSubscriptions: Sendable {
    func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber]
}

/// A webhook that subscribes to an event.
package struct WebhookSubscriber: Sendable, Hashable {
    package let url: String
    package let name: String

    package init(url: String, name: String) {
        self.url = url
        self.name = name
    }
}

/// No webhook subscribes to anything.
package struct NoSubscriptions: WebhookSubscriptions {
    package init() {}

    package func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber] { [] }
}
