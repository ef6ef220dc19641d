package import Accounts
internal import Foundation
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Sends what the outbox holds, several messages at once, until the process shuts down.
///
/// It looks for messages when the queue says that some arrived, when one of its places becomes free, and once a tick in
/// any case. On shutdown it takes no more and finishes what it has taken; what is still not sent after `grace` is
/// cancelled and comes back when its lease ends.
package final class OutboxWorker: Service {
    package struct Settings: Sendable {
        /// Messages on their way at once.
        package var concurrency = 8
        package var tick: Duration = .seconds(1)
        /// For one attempt, whatever the transport's own deadlines.
        ///
        /// Shorter than the lease, else another worker would send the same message meanwhile.
        package var attempt: Duration = .seconds(60)
        package var lease: Duration = .seconds(120)
        /// Longer than a transport usually needs, since what is cancelled may have been sent.
        package var grace: Duration = .seconds(25)
        package var retry = RetryPolicy()

        package init() {}
    }

    struct State {
        var statistics = DeliveryStatistics()
        /// So that each is logged when it begins and not for every message or tick.
        var isQueueBroken = false
        var isUnconfigured = false
    }

    let queue: any OutboxQueue
    let composer: MessageComposer
    let delivery: CurrentDelivery
    let settings: Settings
    let logger: Logger
    let time: any TimeSource
    let clock: any Clock<Duration>
    let random: @Sendable () -> Double
    let state = Mutex(State())

    /// `clock` measures ticks and deadlines, `time` tells how old messages are; `random`, in 0..<1, is the jitter.
    package init(
        queue: any OutboxQueue, composer: MessageComposer, delivery: CurrentDelivery, settings: Settings = Settings(),
        logger: Logger, time: any TimeSource = SystemTime(), clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.queue = queue
        self.composer = composer
        self.delivery = delivery
        self.settings = settings
        self.logger = logger
        self.time = time
        self.clock = clock
        self.random = random
    }

    package var statistics: DeliveryStatistics {
        state.withLock { $0.statistics }
    }

    package func run() async throws {
        // One pending wake-up stands for any number of them.
        let (wakeUps, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        waker.yield()
        async let _ = forwardArrivals(to: waker)
        async let _ = tick(waker)
        await withTaskGroup { group in
            group.addTask {
                await withGracefulShutdownHandler {
                    await self.sendMessages(at: wakeUps, waker: waker)
                } onGracefulShutdown: {
                    waker.finish()
                }
            }
            group.addTask { await self.graceAfterShutdown() }
            await group.next()
            group.cancelAll()
        }
    }

    private func forwardArrivals(to waker: AsyncStream<Void>.Continuation) async {
        for await _ in queue.arrivals {
            waker.yield()
        }
    }

    private func tick(_ waker: AsyncStream<Void>.Continuation) async {
        while (try? await clock.sleep(for: settings.tick)) != nil {
            waker.yield()
        }
    }

    private func graceAfterShutdown() async {
        do {
            try await gracefulShutdown()
            try await clock.sleep(for: settings.grace)
            logger.warning("Shutdown leaves messages in doubt", metadata: ["inFlight": "\(statistics.inFlight)"])
        } catch {
            // Everything was sent in time.
        }
    }

    /// Returns when no more wake-ups come and every message taken is dealt with.
    private func sendMessages(at wakeUps: AsyncStream<Void>, waker: AsyncStream<Void>.Continuation) async {
        await withDiscardingTaskGroup { group in
            for await _ in wakeUps {
                // A wake-up may still be buffered when the stream is finished.
                guard !Task.isShuttingDownGracefully else { break }
                for taken in await takeMessages() {
                    group.addTask {
                        await self.deliver(taken)
                        self.state.withLock { $0.statistics.inFlight -= 1 }
                        waker.yield()
                    }
                }
            }
        }
    }

    /// As many due messages as there are free places.
    private func takeMessages() async -> [TakenMessage] {
        let places = settings.concurrency - statistics.inFlight
        guard places > 0 else { return [] }
        do {
            let taken = try await queue.take(atMost: places, lease: settings.lease)
            let wasBroken = state.withLock { state in
                defer { state.isQueueBroken = false }
                state.statistics.inFlight += taken.count
                return state.isQueueBroken
            }
            if wasBroken { logger.notice("The outbox answers again") }
            return taken
        } catch {
            let wasBroken = state.withLock { state in
                defer { state.isQueueBroken = true }
                return state.isQueueBroken
            }
            if !wasBroken, !Task.isCancelled { logger.error("The outbox does not answer") }
            return []
        }
    }
}
