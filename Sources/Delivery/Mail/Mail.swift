package import Foundation
package import ProviderKit

/// A message's content in one language.
package struct MessageContent: Sendable, Equatable {
    /// A BCP 47 tag.
    package let language: String
    package let subject: String
    package let text: String
    package let html: String
}

/// One mail to one recipient.
package struct Mail: Sendable, Equatable {
    /// The same for every attempt to send the mail.
    package let id: UUID
    package let application: String
    package let from: Mailbox
    package let to: EmailAddress
    /// When the message was written, not when it is sent.
    package let date: Date
    package let content: MessageContent
}

/// Sends mails.
package protocol MessageTransport: Sendable {
    /// Returns once the next hop has taken responsibility for the mail.
    ///
    /// Returns early on cancellation. The same mail may be sent again, with the same `id`.
    ///
    /// - Throws: `DeliveryError` or `CancellationError`; any other error counts as transient.
    func send(_ mail: Mail) async throws
}
