package import Accounts
internal import Foundation
package import Logging
internal import ProviderKit
internal import ServiceLifecycle
internal import Synchronization

/// Delivers the entries of one leased queue until the process shuts down.
///
/// It takes entries when new ones arrive, when an attempt ends, and once per tick in any case. On shutdown it takes no
/// more entries and finishes the current attempts. Attempts that are not done after `grace` are cancelled. Their
/// entries may have been delivered, and become due again when their leases end.
package final class QueueWorker<Handler: QueueHandler>: Service {
    package typealias Entry = Handler.Entry

    private struct State {
        var statistics = DeliveryStatistics()
        var places: LanePlaces<Entry.Lane>
        var isQueueDown = false
    }

    private let handler: Handler
    private let settings: QueueSettings
    private let log: QueueLog
    private let logger: Logger
    private let time: any TimeSource
    private let clock: any Clock<Duration>
    private let random: @Sendable () -> Double
    private let state: Mutex<State>

    /// Creates a worker.
    ///
    /// `clock` measures ticks and deadlines. `time` is used for the age of entries. `random` returns the jitter of
    /// retries, in 0..<1.
    package init(
        _ handler: Handler, settings: QueueSettings = Handler.settings, logger: Logger,
        time: any TimeSource = SystemTime(), clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.handler = handler
        self.settings = settings
        log = Handler.log
        self.logger = logger
        self.time = time
        self.clock = clock
        self.random = random
        state = Mutex(State(places: LanePlaces(concurrency: settings.concurrency)))
    }

    package var statistics: DeliveryStatistics { state.withLock { $0.statistics } }

    package func run() async throws {
        // Further wake-ups are dropped while one is pending, because each takes all due entries.
        let (wakeUps, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        waker.yield()
        // These three run beside the work, and are cancelled and awaited when it has ended.
        async let _ = forwardArrivals(to: waker)
        async let _ = every(settings.tick) {
            state.withLock { $0.places.noteTick() }
            waker.yield()
        }
        async let _ = sweep()
        // Two tasks, because the first of the two to end, the work or its time after the shutdown, ends the other.
        await withTaskGroup { group in
            group.addTask {
                await withGracefulShutdownHandler {
                    await self.work(wakeUps, waker)
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
        for await _ in handler.queue.arrivals { waker.yield() }
    }

    private func every(_ interval: Duration, _ body: () async -> Void) async {
        while (try? await clock.sleep(for: interval)) != nil { await body() }
    }

    private func sweep() async {
        guard let interval = settings.sweep else { return }
        await every(interval) {
            guard let count = try? await handler.sweep(), count > 0 else { return }
            state.withLock { $0.statistics.givenUp += count }
            logger.error(log.swept, metadata: ["count": "\(count)"])
        }
    }

    /// Returns if attempts are still under way when the grace period ends.
    private func graceAfterShutdown() async {
        do {
            try await gracefulShutdown()
            try await clock.sleep(for: settings.grace)
            logger.warning(log.cancelled, metadata: ["inFlight": "\(statistics.inFlight)"])
        } catch {
            // The sleep was cancelled, because all attempts ended in time.
        }
    }

    /// Processes entries until the wake-ups end and all taken entries have been processed.
    private func work(_ wakeUps: AsyncStream<Void>, _ waker: AsyncStream<Void>.Continuation) async {
        await withDiscardingTaskGroup { group in
            for await _ in wakeUps {
                // The stream may still deliver a buffered wake-up after it was finished.
                guard !Task.isShuttingDownGracefully else { break }
                for entry in await take() {
                    // Entries are processed concurrently; `take` limits how many.
                    group.addTask {
                        await self.process(entry)
                        self.change(inFlight: entry.lane, by: -1)
                        waker.yield()
                    }
                }
            }
        }
    }

    /// Takes due entries, in each lane at most as many as there are free places.
    private func take() async -> [Entry] {
        let places = state.withLock { state in
            handler.lanes.reduce(into: [Entry.Lane: Int]()) { $0[$1] = state.places.free($1) }
        }
        guard !places.isEmpty else { return [] }
        do {
            let entries = try await handler.queue.take(places, lease: settings.lease)
            note(isQueueDown: false)
            for entry in entries { change(inFlight: entry.lane, by: 1) }
            return entries
        } catch {
            note(isQueueDown: true)
            return []
        }
    }

    private func change(inFlight lane: Entry.Lane, by count: Int) {
        state.withLock { state in
            state.statistics.inFlight += count
            state.places.change(lane, by: count)
        }
    }

    /// Logs when the queue becomes unavailable or available again, instead of at every tick.
    private func note(isQueueDown: Bool) {
        let wasDown = state.withLock { state in
            defer { state.isQueueDown = isQueueDown }
            return state.isQueueDown
        }
        guard wasDown != isQueueDown, !Task.isCancelled else { return }
        if isQueueDown {
            logger.error("A queue does not answer", metadata: ["queue": "\(log.queue)"])
        } else {
            logger.notice("A queue answers again", metadata: ["queue": "\(log.queue)"])
        }
    }
}

extension QueueWorker {
    /// Makes one attempt and records its outcome; a cancelled attempt is not recorded, because it may have succeeded.
    private func process(_ entry: Entry) async {
        do {
            let isDelivered = try await withinAnAttempt { try await self.handler.deliver(entry, at: self.time.now()) }
            if isDelivered {
                state.withLock { state in
                    state.statistics.sent += 1
                    state.places.noteConfigured(entry.lane)
                }
                handler.count(.sent, of: entry)
                logger.log(level: log.deliveredLevel, log.delivered, metadata: metadata(of: entry))
            }
            await record(entry) { try await self.handler.queue.markDelivered(entry) }
        } catch let error where error is CancellationError || Task.isCancelled {
            // Not every call that is cancelled throws a `CancellationError`.
            logger.debug(log.inDoubt, metadata: metadata(of: entry))
        } catch {
            await fail(entry, with: error as? DeliveryError ?? .unreachable(.connection))
        }
    }

    /// Delivers within the time limit of an attempt.
    /// - Throws: `DeliveryError.unreachable(.timeout)` after it.
    private func withinAnAttempt(_ deliver: @escaping @Sendable () async throws -> Bool) async throws -> Bool {
        // Two tasks, because the first of the two to end, the delivery or the time limit, ends the other.
        try await withThrowingTaskGroup { group in
            group.addTask { try await deliver() }
            group.addTask {
                try await self.clock.sleep(for: self.settings.attempt)
                throw DeliveryError.unreachable(.timeout)
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    private func fail(_ entry: Entry, with error: DeliveryError) async {
        let age = Duration.seconds(time.now().timeIntervalSince(entry.requeuedAt ?? entry.createdAt))
        let delay = settings.retry.delay(after: error, attempts: entry.attempts, age: age, fraction: random())
        let isNewlyUnconfigured = state.withLock { state in
            if delay == nil { state.statistics.givenUp += 1 } else { state.statistics.failed += 1 }
            switch error {
            case .notConfigured: return state.places.noteUnconfigured(entry.lane)
            // Expiry is checked before the configuration is read, so it says nothing about the lane.
            case .expired: return false
            default:
                state.places.noteConfigured(entry.lane)
                return false
            }
        }
        handler.count(delay == nil ? .givenUp : .failed, of: entry)
        var metadata = metadata(of: entry)
        if isNewlyUnconfigured { logger.error(log.unconfigured, metadata: metadata) }
        metadata["reason"] = "\(error.reason)"
        if let delay {
            metadata["retryAfter"] = "\(Int(delay.inSeconds))s"
            // Logged as `debug`, because a whole lane may wait for configuration, which has been logged once.
            logger.log(level: error == .notConfigured ? .debug : .warning, log.retried, metadata: metadata)
        } else {
            logger.error(log.givenUp, metadata: metadata)
        }
        await record(entry) { try await self.handler.queue.markFailed(entry, reason: error.reason, retryAfter: delay) }
    }

    /// Tries for a few seconds to record an outcome; if that fails, the entry is delivered again.
    private func record(_ entry: Entry, _ write: () async throws -> Void) async {
        for attempt in 1...4 {
            do {
                return try await write()
            } catch {
                guard attempt < 4, (try? await clock.sleep(for: settings.tick)) != nil else { break }
            }
        }
        logger.error(log.unrecorded, metadata: metadata(of: entry))
    }

    private func metadata(of entry: Entry) -> Logger.Metadata {
        var metadata = handler.metadata(of: entry)
        metadata["attempt"] = "\(entry.attempts + 1)"
        return metadata
    }
}
