/// The subscriptions of webhooks to events in the current configuration.
package protocol WebhookSubscriptions: Sendable {
    /// The URLs of all webhooks.
    var urls: [String] { get }
    func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber]
    /// The back-channel logout URI of each OpenID client of the application that has one, by the client's id.
    func logoutURIs(of application: Application.ID) -> [String: String]
}

package struct WebhookSubscriber: Sendable, Hashable {
    package let url, name: String

    package init(url: String, name: String) { (self.url, self.name) = (url, name) }
}
