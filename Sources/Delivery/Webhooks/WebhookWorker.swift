package import Accounts
internal import Foundation
package import Logging
package import ProviderKit
internal import ServiceLifecycle
internal import Synchronization

/// Posts account events to the webhooks in force, until the process shuts down.
///
/// Each webhook has its own places: one that hangs delays no other, and never a mail. It lives as `WorkerLoop` says;
/// what a shutdown cancels comes back when its lease ends.
package final class WebhookWorker: Service {
    package struct Settings: Sendable {
        /// Deliveries on their way at once, to each webhook.
        package var concurrency = 4
        package var tick: Duration = .seconds(1)
        /// For one attempt.
        package var attempt: Duration = .seconds(15)
        /// Longer than an attempt, else another worker would post the same meanwhile.
        package var lease: Duration = .seconds(60)
        package var grace: Duration = .seconds(20)
        /// How often to look for deliveries to webhooks that are no longer configured.
        package var sweep: Duration = .seconds(10)
        /// How long after they were due those are given up.
        package var overdue: Duration = .seconds(300)
        package var retry = RetryPolicy.webhooks

        package init() {}
    }

    struct State {
        var statistics = DeliveryStatistics()
        /// The webhooks' shares of `statistics.inFlight`, by URL.
        var inFlight: [String: Int] = [:]
    }

    let queue: any EventQueue
    let webhooks: CurrentWebhooks
    let http: any HTTPPosting
    let settings: Settings
    let logger: Logger
    let time: any TimeSource
    let clock: any Clock<Duration>
    let random: @Sendable () -> Double
    let state = Mutex(State())
    private let outage: QueueOutage

    /// `clock` measures ticks, `time` tells how old events are; `random`, in 0..<1, is the jitter.
    package init(
        queue: any EventQueue, webhooks: CurrentWebhooks, by http: any HTTPPosting, settings: Settings = Settings(),
        logger: Logger,
        time: any TimeSource = SystemTime(), clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.queue = queue
        self.webhooks = webhooks
        self.http = http
        self.settings = settings
        self.logger = logger
        self.time = time
        self.clock = clock
        self.random = random
        outage = QueueOutage(of: "events", logger: logger)
    }

    package var statistics: DeliveryStatistics {
        state.withLock { $0.statistics }
    }

    package func run() async throws {
        let loop = WorkerLoop(arrivals: queue.arrivals, tick: settings.tick, grace: settings.grace, clock: clock)
        async let _ = sweep()
        await loop.run([{ await self.takeDeliveries() }]) {
            self.logger.warning(
                "Shutdown leaves events in doubt", metadata: ["inFlight": "\(self.statistics.inFlight)"])
        }
    }

    private func sweep() async {
        while (try? await clock.sleep(for: settings.sweep)) != nil {
            let count = try? await queue.giveUp(
                allBut: webhooks.all.map(\.url), overdue: settings.overdue, reason: DeliveryError.notConfigured.reason)
            guard let count, count > 0 else { continue }
            state.withLock { $0.statistics.givenUp += count }
            logger.error(
                "Events given up: their webhooks are no longer configured", metadata: ["events": "\(count)"])
        }
    }

    /// As many due deliveries as their webhooks have free places.
    private func takeDeliveries() async -> [WorkerLoop.Job] {
        let known = Dictionary(webhooks.all.map { ($0.url, $0) }) { first, _ in first }
        let inFlight = state.withLock { $0.inFlight }
        let places = known.keys.reduce(into: [String: Int]()) { places, url in
            let free = settings.concurrency - inFlight[url, default: 0]
            if free > 0 { places[url] = free }
        }
        guard !places.isEmpty else { return [] }
        return await outage.watch { try await queue.take(places, lease: settings.lease) }.compactMap { delivery in
            guard let webhook = known[delivery.webhook] else { return nil }
            change(inFlight: delivery.webhook, by: 1)
            return {
                await self.deliver(delivery, to: webhook)
                self.change(inFlight: delivery.webhook, by: -1)
            }
        }
    }

    private func change(inFlight webhook: String, by count: Int) {
        state.withLock { state in
            state.statistics.inFlight += count
            let left = state.inFlight[webhook, default: 0] + count
            state.inFlight[webhook] = left == 0 ? nil : left
        }
    }
}

extension RetryPolicy {
    /// An erasure waits for acknowledgements for 72 hours, so that trying goes on for longer than that.
    package static var webhooks: RetryPolicy {
        var policy = RetryPolicy()
        policy.firstLimit = .seconds(5)
        policy.giveUpAge = .seconds(96 * 3600)
        return policy
    }
}
