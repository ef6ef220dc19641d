package import Accounts
internal import Synchronization

/// The sender and the transport of mails.
package struct EmailDelivery: Sendable {
    package let from: Mailbox
    package let transport: any MessageTransport

    package init(from: Mailbox, transport: any MessageTransport) {
        self.from = from
        self.transport = transport
    }
}

/// The transport of text messages, and their budget.
package struct SMSDelivery: Sendable {
    package let transport: any TextTransport
    /// The limits on text messages; if `nil`, text messages are not counted.
    package let budget: TextBudget?

    package init(transport: any TextTransport, budget: TextBudget? = nil) {
        self.transport = transport
        self.budget = budget
    }
}

/// The configured delivery, replaced when the configuration is reloaded.
package final class CurrentDelivery: Sendable {
    private struct State {
        var email: EmailDelivery?
        var sms: SMSDelivery?
        var composer: MessageComposer
    }

    private let current: Mutex<State>

    /// If a transport is `nil`, messages for its channel wait in the outbox until one is configured, or until they
    /// expire.
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
