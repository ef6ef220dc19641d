package import Foundation
package import ProviderKit

/// A message's content, ready for a person to read.
package struct MessageContent: Sendable, Equatable {
    /// A BCP 47 tag.
    package let language: String
    package let subject: String
    package let text: String
    package let html: String

    package init(language: String, subject: String, text: String, html: String) {
        self.language = language
        self.subject = subject
        self.text = text
        self.html = html
    }
}

/// One mail to one recipient.
package struct Mail: Sendable, Equatable {
    /// The message's; every attempt to send it carries the same.
    package let id: UUID
    package let application: String
    package let from: Mailbox
    package let to: EmailAddress
    /// When the message was written, not when it is sent.
    package let date: Date
    package let content: MessageContent

    package init(
        id: UUID, application: String, from: Mailbox, to: EmailAddress, date: Date, content: MessageContent
    ) {
        self.id = id
        self.application = application
        self.from = from
        self.to = to
        self.date = date
        self.content = content
    }
}
