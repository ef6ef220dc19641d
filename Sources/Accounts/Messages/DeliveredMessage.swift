package import Foundation

/// A message that was sent, or that `gatehouse dev` kept instead.
package struct DeliveredMessage: Sendable, Codable, Equatable {
    package enum Kind: String, Sendable, Codable, CaseIterable { case email, sms }

    package let id: UUID
    package let kind: Kind
    package let application, from, to: String
    package let subject: String?
    package let text: String
    package let html: String?
    package let sentAt: Date

    package init(
        id: UUID, kind: Kind, application: String, from: String, to: String, subject: String?, text: String,
        html: String?, sentAt: Date
    ) {
        (self.id, self.kind, self.application, self.from) = (id, kind, application, from)
        (self.to, self.subject, self.text) = (to, subject, text)
        (self.html, self.sentAt) = (html, sentAt)
    }
}
