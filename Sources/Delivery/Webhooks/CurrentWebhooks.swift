package import Accounts
internal import Synchronization

/// The webhooks in force, replaced when the configuration changes.
///
/// A delivery on its way finishes as it began.
package final class CurrentWebhooks: WebhookSubscriptions {
    private let current: Mutex<[Webhook]>

    package init(_ webhooks: [Webhook]) {
        current = Mutex(webhooks)
    }

    package var all: [Webhook] { current.withLock { $0 } }

    package func replace(with webhooks: [Webhook]) {
        current.withLock { $0 = webhooks }
    }

    package func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber] {
        all.filter { $0.events.contains(kind) }.map { WebhookSubscriber(url: $0.url, name: $0.name) }
    }
}
