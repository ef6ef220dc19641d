package import Accounts
package import Foundation
package import Logging
internal import ProviderKit

/// Sends the messages of the outbox.
///
/// Each channel is a lane of the queue, with its own limit of concurrent attempts, so that a text gateway that hangs
/// delays no mail.
package struct MessageHandler: QueueHandler {
    package static let settings = QueueSettings(
        concurrency: 8, attempt: .seconds(60), lease: .seconds(120), grace: .seconds(25), retry: RetryPolicy())

    package static let log = QueueLog(
        queue: "outbox", delivered: "Message sent", retried: "Message not sent yet", givenUp: "Message given up",
        inDoubt: "Message left in doubt",
        unrecorded: "The outbox could not be updated after a message was sent; it will be sent again",
        cancelled: "Shutdown leaves messages in doubt",
        unconfigured: "No delivery is configured for a channel: its messages wait in the outbox")

    package let queue: any LeasedQueue<TakenMessage>
    private let outbox: any OutboxQueue
    private let delivery: CurrentDelivery
    private let statistics: Statistics

    package init(queue outbox: some OutboxQueue, delivery: CurrentDelivery, statistics: Statistics = Statistics()) {
        queue = outbox
        self.outbox = outbox
        self.delivery = delivery
        self.statistics = statistics
    }

    package var lanes: [MessageChannel] { MessageChannel.allCases }

    package func deliver(_ entry: TakenMessage, at now: Date) async throws -> Bool {
        let message = entry.message
        guard !message.hasNoRecipient else { return false }
        // A message with an expired code or link is not sent. In other messages, `until` is only part of the text.
        let isTimed = message.link != nil || message.code != nil
        if isTimed, let until = message.until, until <= now { throw DeliveryError.expired }
        switch message.channel {
        case .email: try await sendMail(entry)
        case .sms: try await sendText(entry)
        }
        return true
    }

    private func sendMail(_ entry: TakenMessage) async throws {
        guard let email = delivery.email else { throw DeliveryError.notConfigured }
        guard let recipient = EmailAddress(entry.message.to) else { throw DeliveryError.malformedAddress }
        let content = try delivery.composer.compose(entry.message, application: entry.applicationName)
        try await email.transport.send(
            Mail(
                id: entry.message.id, application: entry.applicationName, from: email.from, to: recipient,
                date: entry.createdAt, content: content))
    }

    private func sendText(_ entry: TakenMessage) async throws {
        guard let sms = delivery.sms else { throw DeliveryError.notConfigured }
        guard let number = PhoneNumber(entry.message.to), number.takesTexts else {
            throw DeliveryError.malformedAddress
        }
        let text = try delivery.composer.text(entry.message, application: entry.applicationName)
        let budget = entry.message.code == nil ? sms.budget : sms.budget?.ofCodes
        if let budget, try await !outbox.count(entry, toward: budget, range: number.range) {
            throw DeliveryError.overBudget
        }
        try await sms.transport.send(
            TextMessage(id: entry.message.id, application: entry.applicationName, to: number, text: text))
    }

    package func metadata(of entry: TakenMessage) -> Logger.Metadata {
        [
            "message": "\(entry.message.id.text)", "topic": "\(entry.message.topic.rawValue)",
            "channel": "\(entry.message.channel.rawValue)", "application": "\(entry.applicationName)",
        ]
    }

    package func count(_ outcome: AttemptOutcome, of entry: TakenMessage) {
        let label = Statistic.label(entry.message.channel.rawValue, outcome.rawValue)
        statistics.count(.messages, label: label, in: entry.application)
    }
}
