package import Accounts
internal import Foundation
internal import ProviderKit
internal import Synchronization

/// Keeps the newest 200 messages in memory instead of sending them.
///
/// Use it only for development, because the messages contain one-time secrets.
package final class DevelopmentInbox: MessageTransport, TextTransport, Inbox {
    private let capacity: Int
    private let time: any TimeSource
    private let kept = Mutex<[DeliveredMessage]>([])

    package init(capacity: Int = 200, time: any TimeSource = SystemTime()) {
        self.capacity = capacity
        self.time = time
    }

    /// Keeps a mail; a repetition replaces the earlier copy.
    package func send(_ mail: Mail) async {
        keep(
            DeliveredMessage(
                id: mail.id, kind: .email, application: mail.application, from: mail.from.description,
                to: mail.to.value, subject: mail.content.subject, text: mail.content.text, html: mail.content.html,
                sentAt: time.now()))
    }

    /// Keeps a text message; a repetition replaces the earlier copy.
    package func send(_ message: TextMessage) async {
        keep(
            DeliveredMessage(
                id: message.id, kind: .sms, application: message.application, from: "Gatehouse", to: message.to.value,
                subject: nil, text: message.text, html: nil, sentAt: time.now()))
    }

    private func keep(_ message: DeliveredMessage) {
        kept.withLock { kept in
            kept.removeAll { $0.id == message.id }
            kept.append(message)
            kept.removeFirst(max(0, kept.count - capacity))
        }
    }

    package func messages() -> [DeliveredMessage] { kept.withLock { $0.reversed() } }
}
