internal import Accounts
internal import Foundation
internal import ProviderKit

/// The messages that `gatehouse dev` keeps instead of sending, the newest first.
struct InboxPayload: ResponsePayload {
    let messages: [Message]

    init(_ messages: [DeliveredMessage]) { self.messages = messages.map { Message(message: $0) } }

    static let fields = ResponseFields<Self>("Inbox") { Field("messages", \.messages) }

    struct Message: ResponsePayload {
        let message: DeliveredMessage

        static let fields = ResponseFields<Self>("InboxMessage") {
            Field("id", \.message.id)
            Field("kind", as: .enumeration(["email", "sms"]), \.message.kind.rawValue)
            Field("application", \.message.application)
            Field("from", \.message.from)
            Field("to", \.message.to)
            Field("subject", orNull: \.message.subject)
            Field("text", \.message.text)
            Field("html", orNull: \.message.html)
            Field("sentAt", \.message.sentAt)
        }
    }
}
