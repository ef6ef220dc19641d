/// The subscriptions of webhooks to events in the current configuration.
package protocol WebhookSubscriptions: Sendable {
    func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber]
}

package struct WebhookSubscriber: Sendable, Hashable {
    package let url, name: String

    package init(url: String, name: String) { (self.url, self.name) = (url, name) }
}

package struct NoSubscriptions: WebhookSubscriptions {
    package init() {}
    package func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber] { [] }
}
