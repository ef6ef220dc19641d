internal import Accounts
internal import Foundation
internal import Logging
internal import ProviderKit
internal import Synchronization

extension OutboxWorker {
    /// One attempt and its mark; a cancelled one is left unmarked, since it may or may not have been sent.
    func deliver(_ taken: TakenMessage) async {
        guard !taken.message.hasNoRecipient else { return await markDone(taken) }
        do {
            try await send(taken)
            state.withLock { $0.statistics.sent += 1 }
            logger.debug("Message sent", metadata: metadata(of: taken))
            await markDone(taken)
        } catch is CancellationError {
            logger.debug("Message left in doubt", metadata: metadata(of: taken))
        } catch {
            await fail(taken, with: error as? DeliveryError ?? .unreachable(.connection))
        }
    }

    private func markDone(_ taken: TakenMessage) async {
        await mark(taken) {
            try await self.queue.markSent(taken.message.id, application: taken.application)
        }
    }

    private func send(_ taken: TakenMessage) async throws {
        let message = taken.message
        // What came too late would only annoy. Without a code or a link, `until` is part of what is told.
        let isTimed = message.link != nil || message.code != nil
        if isTimed, let until = message.until, until <= time.now() { throw DeliveryError.expired }
        switch message.channel {
        case .email: try await sendMail(message, application: taken.applicationName)
        case .sms: try await sendText(taken)
        }
    }

    private func sendMail(_ message: Message, application: String) async throws {
        let email = try configured(delivery.email, for: .email)
        guard let recipient = EmailAddress(message.to) else { throw DeliveryError.malformedAddress }
        let mail = Mail(
            id: message.id, application: application, from: email.from, to: recipient, date: message.id.creationTime,
            content: try delivery.composer.compose(message, application: application))
        try await withinAnAttempt { try await email.transport.send(mail) }
    }

    private func sendText(_ taken: TakenMessage) async throws {
        let message = taken.message
        let sms = try configured(delivery.sms, for: .sms)
        guard let number = PhoneNumber(message.to), number.takesTexts else { throw DeliveryError.malformedAddress }
        let text = TextMessage(
            id: message.id, application: taken.applicationName, to: number,
            text: try delivery.composer.text(message, application: taken.applicationName))
        if let budget = sms.budget {
            let isWithin = try await queue.count(
                message.id, toward: budget, range: number.range, application: taken.application)
            guard isWithin else { throw DeliveryError.overBudget }
        }
        try await withinAnAttempt { try await sms.transport.send(text) }
    }

    private func withinAnAttempt(_ send: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            // Against the clock: whichever is first ends the other.
            group.addTask { try await send() }
            group.addTask {
                try await self.clock.sleep(for: self.settings.attempt)
                throw DeliveryError.unreachable(.timeout)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func configured<Delivery>(
        _ delivery: Delivery?, for channel: MessageChannel
    ) throws(DeliveryError) -> Delivery {
        let isKnown = state.withLock { state in
            guard delivery == nil else { return state.unconfigured.remove(channel) != nil }
            return !state.unconfigured.insert(channel).inserted
        }
        guard let delivery else {
            if !isKnown {
                logger.error(
                    "No delivery is configured for a channel: its messages wait in the outbox",
                    metadata: ["channel": "\(channel.rawValue)"])
            }
            throw .notConfigured
        }
        return delivery
    }

    private func fail(_ taken: TakenMessage, with error: DeliveryError) async {
        let age = Duration.seconds(time.now().timeIntervalSince(taken.message.id.creationTime))
        let delay = settings.retry.delay(after: error, attempts: taken.attempts, age: age, fraction: random())
        state.withLock { state in
            if delay == nil {
                state.statistics.givenUp += 1
            } else {
                state.statistics.failed += 1
            }
        }
        log(error, of: taken, retryAfter: delay)
        await mark(taken) {
            try await self.queue.markFailed(
                taken.message.id, reason: error.reason, retryAfter: delay, application: taken.application)
        }
    }

    /// Tries to write the mark for a few seconds: without it the message is sent again when its lease ends.
    private func mark(_ taken: TakenMessage, _ write: () async throws -> Void) async {
        for attempt in 1...4 {
            do {
                return try await write()
            } catch  where attempt < 4 {
                guard (try? await clock.sleep(for: settings.tick)) != nil else { break }
            } catch {
                break
            }
        }
        logger.error("The outbox was not told about a message; it will be sent again", metadata: metadata(of: taken))
    }
}

extension OutboxWorker {
    private func log(_ error: DeliveryError, of taken: TakenMessage, retryAfter delay: Duration?) {
        var metadata = metadata(of: taken)
        metadata["reason"] = "\(error.reason)"
        guard let delay else {
            return logger.error("Message given up", metadata: metadata)
        }
        metadata["retryAfter"] = "\(Int(delay / .seconds(1)))s"
        // The whole outbox may be waiting for a configuration; that it does has been logged once.
        logger.log(level: error == .notConfigured ? .debug : .warning, "Message not sent yet", metadata: metadata)
    }

    private func metadata(of taken: TakenMessage) -> Logger.Metadata {
        let message = taken.message
        return [
            "message": "\(message.id.text)", "topic": "\(message.topic.rawValue)",
            "channel": "\(message.channel.rawValue)",
            "application": "\(taken.applicationName)", "attempt": "\(taken.attempts + 1)",
        ]
    }
}
