package import Foundation
package import ProviderKit

/// A message's content in one language.
package struct MessageContent: Sendable, Equatable {
    /// The language as a BCP 47 tag.
    package let language: String
    package let subject: String
    package let text: String
    package let html: String
}

/// One mail to one recipient.
package struct Mail: Sendable, Equatable {
    /// The id, which stays the same for every attempt to send the mail.
    package let id: UUID
    package let application: String
    package let from: Mailbox
    package let to: EmailAddress
    /// The time at which the message was queued, not the time of sending.
    package let date: Date
    package let content: MessageContent
}

/// Sends mails over one kind of connection.
package protocol MessageTransport: Sendable {
    /// Sends the mail, and returns once the next hop has taken responsibility for it.
    ///
    /// On cancellation it returns without waiting. The same mail may be sent again, with the same `id`.
    ///
    /// - Throws: `DeliveryError` or `CancellationError`; any other error counts as transient.
    func send(_ mail: Mail) async throws
}
