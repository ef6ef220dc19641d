package import Accounts
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

/// How text messages leave: what carries them, and how many at most.
package struct SMSDelivery: Sendable {
    package let transport: any TextTransport
    /// Without one, nothing is counted.
    package let budget: TextBudget?

    package init(transport: any TextTransport, budget: TextBudget? = nil) {
        self.transport = transport
        self.budget = budget
    }
}

/// The delivery in force, replaced when the configuration changes.
///
/// A message on its way finishes as it began.
package final class CurrentDelivery: Sendable {
    private struct State {
        var email: EmailDelivery?
        var sms: SMSDelivery?
        var composer: MessageComposer
    }

    private let current: Mutex<State>

    /// `nil` for a channel means that none is configured; its messages then wait in the outbox, failing visibly, until
    /// one is, or until they expire.
    package init(email: EmailDelivery?, sms: SMSDelivery? = nil, composer: MessageComposer) {
        current = Mutex(State(email: email, sms: sms, composer: composer))
    }

    package var email: EmailDelivery? { current.withLock { $0.email } }
    package var sms: SMSDelivery? { current.withLock { $0.sms } }
    package var composer: MessageComposer { current.withLock { $0.composer } }

    package func replace(email: EmailDelivery?, sms: SMSDelivery?, composer: MessageComposer) {
        current.withLock { $0 = State(email: email, sms: sms, composer: composer) }
    }
}
