internal import Synchronization

/// How e-mail leaves: who it is from and what carries it.
package struct EmailDelivery: Sendable {
    package let from: Mailbox
    package let transport: any MessageTransport

    package init(from: Mailbox, transport: any MessageTransport) {
        self.from = from
        self.transport = transport
    }
}

/// The delivery in force, replaced when the configuration changes.
///
/// A mail on its way finishes as it began.
package final class CurrentDelivery: Sendable {
    private let current: Mutex<EmailDelivery?>

    /// - Parameter email: `nil` when none is configured; messages then wait in the outbox, failing visibly, until one is.
    package init(email: EmailDelivery?) {
        current = Mutex(email)
    }

    package var email: EmailDelivery? {
        current.withLock { $0 }
    }

    package func replace(email: EmailDelivery?) {
        current.withLock { $0 = email }
    }
}
