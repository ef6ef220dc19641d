package import Accounts
internal import Foundation
package import Logging
internal import ProviderKit
internal import ServiceLifecycle
internal import Synchronization

/// Gives tokens back to the services that gave them, until the process shuts down.
///
/// It lives as `WorkerLoop` says; telling a service twice does no harm, so that what a shutdown or a crash interrupts
/// simply comes back when its lease ends.
package final class RevocationWorker: Service {
    package struct Settings: Sendable {
        package var concurrency = 4
        package var tick: Duration = .seconds(1)
        /// Longer than a provider may take.
        package var lease: Duration = .seconds(60)
        package var grace: Duration = .seconds(20)
        /// How long a provider may be unknown here: another replica may have read of it already.
        package var unknown: Duration = .seconds(300)
        package var retry = RetryPolicy.webhooks

        package init() {}
    }

    private let queue: any RevocationQueue
    private let providers: any RevokingProviders
    private let settings: Settings
    private let logger: Logger
    private let time: any TimeSource
    private let clock: any Clock<Duration>
    private let random: @Sendable () -> Double
    private let counted = Mutex(DeliveryStatistics())
    private let outage: QueueOutage

    /// `clock` measures ticks, `time` tells how old revocations are; `random`, in 0..<1, is the jitter.
    package init(
        queue: any RevocationQueue, providers: any RevokingProviders, settings: Settings = Settings(),
        logger: Logger, time: any TimeSource = SystemTime(), clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.queue = queue
        self.providers = providers
        self.settings = settings
        self.logger = logger
        self.time = time
        self.clock = clock
        self.random = random
        outage = QueueOutage(of: "revocations", logger: logger)
    }

    package var statistics: DeliveryStatistics {
        counted.withLock { $0 }
    }

    package func run() async throws {
        let loop = WorkerLoop(arrivals: queue.arrivals, tick: settings.tick, grace: settings.grace, clock: clock)
        await loop.run([{ await self.takeRevocations() }]) {
            self.logger.warning("Shutdown leaves tokens to be given back again")
        }
    }

    private func takeRevocations() async -> [WorkerLoop.Job] {
        let free = settings.concurrency - statistics.inFlight
        guard free > 0 else { return [] }
        return await outage.watch { try await queue.take(atMost: free, lease: settings.lease) }.map { revocation in
            counted.withLock { $0.inFlight += 1 }
            return {
                await self.revoke(revocation)
                self.counted.withLock { $0.inFlight -= 1 }
            }
        }
    }

    private func revoke(_ revocation: TakenRevocation) async {
        guard let provider = providers.provider(named: revocation.provider, application: revocation.application) else {
            return await fail(revocation, with: .notConfigured, reason: "not-configured", limit: settings.unknown)
        }
        do {
            try await provider.revoke(revocation.tokens)
            try await queue.markRevoked(revocation.id, of: revocation.application)
            counted.withLock { $0.sent += 1 }
            logger.info("Tokens given back", metadata: metadata(of: revocation))
        } catch is CancellationError {
            logger.debug("Tokens may have been given back", metadata: metadata(of: revocation))
        } catch {
            // No refusal is final: settings are wrong and repaired, and an erasure waits for this.
            await fail(
                revocation, with: .unreachable(.connection), reason: "unreachable", limit: settings.retry.giveUpAge)
        }
    }

    private func fail(
        _ revocation: TakenRevocation, with error: DeliveryError, reason: String, limit: Duration
    ) async {
        let age = Duration.seconds(time.now().timeIntervalSince(revocation.createdAt))
        let delay =
            age < limit
            ? settings.retry.delay(after: error, attempts: revocation.attempts, age: age, fraction: random()) : nil
        var metadata = metadata(of: revocation)
        metadata["reason"] = "\(reason)"
        if let delay {
            metadata["retryAfter"] = "\(Int(delay / .seconds(1)))s"
            logger.warning("Tokens not given back yet", metadata: metadata)
        } else {
            logger.error("Tokens given up: the service may still honour them", metadata: metadata)
        }
        counted.withLock { counted in
            if delay == nil { counted.givenUp += 1 } else { counted.failed += 1 }
        }
        // Without the mark it is tried again when its lease ends.
        try? await queue.markFailed(
            revocation.id, of: revocation.application, reason: reason, retryAfter: delay)
    }

    private func metadata(of revocation: TakenRevocation) -> Logger.Metadata {
        [
            "revocation": "\(revocation.id.text)", "provider": "\(revocation.provider)",
            "application": "\(revocation.applicationName)", "attempt": "\(revocation.attempts + 1)",
        ]
    }
}
