/// Which webhooks hear of what, by the configuration in force.
package protocol WebhookSubscriptions: Sendable {
    func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber]
}

/// A webhook that hears of an event.
package struct WebhookSubscriber: Sendable, Hashable {
    package let url: String
    package let name: String

    package init(url: String, name: String) {
        self.url = url
        self.name = name
    }
}

/// Nobody is told anything.
package struct NoSubscriptions: WebhookSubscriptions {
    package init() {}

    package func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber] { [] }
}
