internal import Accounts
internal import Foundation
internal import Logging
internal import ProviderKit
internal import Synchronization

extension WebhookWorker {
    /// One attempt and its mark; a cancelled one is left unmarked, since it may or may not have arrived.
    func deliver(_ delivery: TakenDelivery, to webhook: Webhook) async {
        do {
            try await post(delivery, to: webhook)
            state.withLock { $0.statistics.sent += 1 }
            logger.debug("Event acknowledged", metadata: metadata(of: delivery, webhook))
            await mark(delivery, webhook) { try await self.queue.markAcknowledged(delivery) }
        } catch is CancellationError {
            logger.debug("Event left in doubt", metadata: metadata(of: delivery, webhook))
        } catch {
            await fail(delivery, to: webhook, with: error as? DeliveryError ?? .unreachable(.connection))
        }
    }

    private func post(_ delivery: TakenDelivery, to webhook: Webhook) async throws {
        do {
            try await http.deliver(try webhook.request(delivery, at: time.now()), within: settings.attempt)
        } catch DeliveryError.gatewayRefused(let status) {
            // No answer is final: receivers are misconfigured and repaired, and an erasure waits for them.
            throw DeliveryError.gatewayDeferred(status: status)
        }
    }

    private func fail(_ delivery: TakenDelivery, to webhook: Webhook, with error: DeliveryError) async {
        let age = Duration.seconds(time.now().timeIntervalSince(delivery.createdAt))
        let delay = settings.retry.delay(after: error, attempts: delivery.attempts, age: age, fraction: random())
        state.withLock { state in
            if delay == nil {
                state.statistics.givenUp += 1
            } else {
                state.statistics.failed += 1
            }
        }
        log(error, of: delivery, webhook, retryAfter: delay)
        await mark(delivery, webhook) {
            try await self.queue.markFailed(delivery, reason: error.reason, retryAfter: delay)
        }
    }

    /// Tries to write the mark for a few seconds: without it the event is posted again when its lease ends.
    private func mark(_ delivery: TakenDelivery, _ webhook: Webhook, _ write: () async throws -> Void) async {
        for attempt in 1...4 {
            do {
                return try await write()
            } catch  where attempt < 4 {
                guard (try? await clock.sleep(for: settings.tick)) != nil else { break }
            } catch {
                break
            }
        }
        logger.error(
            "The queue was not told about an event; it will be posted again", metadata: metadata(of: delivery, webhook))
    }

    private func log(
        _ error: DeliveryError, of delivery: TakenDelivery, _ webhook: Webhook, retryAfter delay: Duration?
    ) {
        var metadata = metadata(of: delivery, webhook)
        metadata["reason"] = "\(error.reason)"
        guard let delay else {
            return logger.error("Event given up", metadata: metadata)
        }
        metadata["retryAfter"] = "\(Int(delay / .seconds(1)))s"
        logger.warning("Event not acknowledged yet", metadata: metadata)
    }

    private func metadata(of delivery: TakenDelivery, _ webhook: Webhook) -> Logger.Metadata {
        [
            "event": "\(delivery.event.text)", "kind": "\(delivery.kind)", "webhook": "\(webhook.name)",
            "application": "\(delivery.applicationName)", "attempt": "\(delivery.attempts + 1)",
        ]
    }
}
