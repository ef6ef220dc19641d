package import Accounts
internal import Foundation
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Sends what the outbox holds, several messages at once, until the process shuts down.
///
/// Each channel has its own places: a gateway that stalls delays no mail. It lives as `WorkerLoop` says; what a shutdown
/// cancels comes back when its lease ends.
package final class OutboxWorker: Service {
    package struct Settings: Sendable {
        /// Messages on their way at once, in each channel.
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
        /// So that each is logged when it begins and not for every message.
        var unconfigured: Set<MessageChannel> = []
        /// The channels' shares of `statistics.inFlight`.
        var inFlight: [MessageChannel: Int] = [:]
    }

    let queue: any OutboxQueue
    let delivery: CurrentDelivery
    let settings: Settings
    let logger: Logger
    let time: any TimeSource
    let clock: any Clock<Duration>
    let random: @Sendable () -> Double
    let state = Mutex(State())
    private let outage: QueueOutage

    /// `clock` measures ticks and deadlines, `time` tells how old messages are; `random`, in 0..<1, is the jitter.
    package init(
        queue: any OutboxQueue, delivery: CurrentDelivery, settings: Settings = Settings(), logger: Logger,
        time: any TimeSource = SystemTime(), clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.queue = queue
        self.delivery = delivery
        self.settings = settings
        self.logger = logger
        self.time = time
        self.clock = clock
        self.random = random
        outage = QueueOutage(of: "outbox", logger: logger)
    }

    package var statistics: DeliveryStatistics {
        state.withLock { $0.statistics }
    }

    package func run() async throws {
        let loop = WorkerLoop(arrivals: queue.arrivals, tick: settings.tick, grace: settings.grace, clock: clock)
        let lanes = MessageChannel.allCases.map { channel in
            { @Sendable in await self.takeMessages(channel).map { self.job($0, in: channel) } }
        }
        await loop.run(lanes) {
            self.logger.warning(
                "Shutdown leaves messages in doubt", metadata: ["inFlight": "\(self.statistics.inFlight)"])
        }
    }

    private func job(_ taken: TakenMessage, in channel: MessageChannel) -> WorkerLoop.Job {
        {
            await self.deliver(taken)
            self.change(inFlight: channel, by: -1)
        }
    }

    private func change(inFlight channel: MessageChannel, by count: Int) {
        state.withLock { state in
            state.statistics.inFlight += count
            state.inFlight[channel, default: 0] += count
        }
    }

    /// As many due messages as the channel has free places.
    private func takeMessages(_ channel: MessageChannel) async -> [TakenMessage] {
        let places = settings.concurrency - state.withLock { $0.inFlight[channel, default: 0] }
        guard places > 0 else { return [] }
        let taken = await outage.watch { try await queue.take(channel, atMost: places, lease: settings.lease) }
        change(inFlight: channel, by: taken.count)
        return taken
    }
}
