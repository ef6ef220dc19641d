internal import Accounts

/// What `gatehouse dev` would have sent, the newest first.
struct InboxPayload: Codable, Sendable {
    let messages: [Message]

    init(_ messages: [DeliveredMessage]) {
        self.messages = messages.map { Message($0) }
    }

    struct Message: Codable, Sendable {
        enum Kind: String, Codable, Sendable, CaseIterable {
            case email, sms
        }

        let id: String
        let kind: Kind
        let application: String
        let from: String
        let to: String
        @Nullable private(set) var subject: String?
        let text: String
        @Nullable private(set) var html: String?
        let sentAt: Timestamp

        init(_ message: DeliveredMessage) {
            id = message.id.text
            kind =
                switch message.kind {
                case .email: .email
                case .sms: .sms
                }
            application = message.application
            from = message.from
            to = message.to
            subject = message.subject
            text = message.text
            html = message.html
            sentAt = Timestamp(message.sentAt)
        }
    }
}
