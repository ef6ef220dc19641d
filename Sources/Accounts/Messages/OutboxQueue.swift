package import Foundation

/// A message that a worker has taken from the outbox.
package struct TakenMessage: QueueEntry {
    package let message: Message
    package let application: Application.ID
    package let applicationName: String
    package let attempts: Int
    package let requeuedAt: Date?

    package init(
        message: Message, application: Application.ID, applicationName: String, attempts: Int, requeuedAt: Date? = nil
    ) {
        (self.message, self.application, self.applicationName) = (message, application, applicationName)
        (self.attempts, self.requeuedAt) = (attempts, requeuedAt)
    }

    package var lane: MessageChannel { message.channel }

    /// When the message was created, from the milliseconds in its id, which is a version 7 UUID (RFC 9562, 5.7).
    package var createdAt: Date {
        let milliseconds = withUnsafeBytes(of: message.id.uuid) { bytes in
            bytes.prefix(6).reduce(0) { $0 << 8 | Int64($1) }
        }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

/// The queue of messages, as its workers use it.
package protocol OutboxQueue: LeasedQueue<TakenMessage> {
    /// Counts a text message once for all its attempts; `range` is the recipient's, for `TextBudget.perRange`.
    /// - Returns: whether the message is within the budget; a refused one never counts in the total.
    func count(_ entry: TakenMessage, toward budget: TextBudget, range: String) async throws -> Bool
}
