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
    /// - Throws: `DeliveryError` or `CancellationError`; any other error counts as transient.
    func send(_ mail: Mail) async throws

    /// Connects to the next hop and signs in to it, without sending a mail.
    func probe() async -> MailRelayState
}

extension MessageTransport {
    /// Mails are kept in this process.
    package func probe() async -> MailRelayState { .keptHere }
}

/// The sender of mails: `Demo <no-reply@demo.example>` or a plain address.
package struct Mailbox: Sendable, Equatable, CustomStringConvertible {
    /// The name without quotation marks; empty if there is none.
    package let displayName: String
    package let address: EmailAddress

    /// - Throws: `DeliveryError.invalidSetting` unless the text is one line with one address and at most one name.
    ///   Comments and groups are not supported.
    package init(_ text: String, field: String = "delivery.email.from") throws(DeliveryError) {
        guard !text.unicodeScalars.contains(where: HeaderText.breaksLines) else {
            throw .invalidSetting(field: field, reason: "has a control character")
        }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        let (name, typed) = try Self.split(trimmed, field: field)
        guard let address = EmailAddress(typed) else {
            throw .invalidSetting(field: field, reason: "is not an address like `Name <name@domain.example>`")
        }
        self.address = address
        displayName = name
    }

    package var description: String { displayName.isEmpty ? address.value : "\(displayName) <\(address.value)>" }

    private static func split(_ text: String, field: String) throws(DeliveryError) -> (name: String, typed: String) {
        guard text.last == ">", let open = text.lastIndex(of: "<") else { return ("", text) }
        let typed = String(text[text.index(after: open)...].dropLast())
        var name = text[..<open].trimmingCharacters(in: .whitespaces)
        if name.count >= 2, name.first == "\"", name.last == "\"" {
            name = String(name.dropFirst().dropLast()).replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
        } else if name.contains(where: { "\"<>".contains($0) }) {
            throw .invalidSetting(field: field, reason: "has a name with stray quotation marks or brackets")
        }
        return (name, typed)
    }
}
