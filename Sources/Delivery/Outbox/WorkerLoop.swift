internal import ServiceLifecycle

/// The life of a worker.
///
/// It looks for work when told that some arrived, when some is done, and once a tick in any case. On shutdown it takes
/// no more and finishes what it has taken; what is still not done after `grace` is cancelled.
struct WorkerLoop: Sendable {
    typealias Job = @Sendable () async -> Void
    /// As much work as there are free places for.
    typealias Taking = @Sendable () async -> [Job]

    /// What wakes one kind of work up; one pending wake-up stands for any number of them.
    private struct Lane: Sendable {
        let take: Taking
        let wakeUps: AsyncStream<Void>
        let waker: AsyncStream<Void>.Continuation

        init(_ take: @escaping Taking) {
            self.take = take
            (wakeUps, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            waker.yield()
        }
    }

    let arrivals: AsyncStream<Void>
    let tick: Duration
    let grace: Duration
    let clock: any Clock<Duration>

    /// Returns after a graceful shutdown, or when cancelled.
    ///
    /// - Parameters:
    ///   - lanes: work that delays no other's.
    ///   - onCancellation: called before what is left after `grace` is cancelled.
    func run(_ lanes: [Taking], onCancellation: @escaping @Sendable () -> Void) async {
        let lanes = lanes.map { Lane($0) }
        async let _ = forwardArrivals(to: lanes)
        async let _ = keepTicking(lanes)
        await withTaskGroup { group in
            // Beside the grace, which cuts it short.
            group.addTask {
                await withGracefulShutdownHandler {
                    await withDiscardingTaskGroup { group in
                        for lane in lanes {
                            // A lane that is slow holds up no other.
                            group.addTask { await work(on: lane) }
                        }
                    }
                } onGracefulShutdown: {
                    for lane in lanes { lane.waker.finish() }
                }
            }
            group.addTask { await graceAfterShutdown(onCancellation) }
            await group.next()
            group.cancelAll()
        }
    }

    private func forwardArrivals(to lanes: [Lane]) async {
        for await _ in arrivals {
            for lane in lanes { lane.waker.yield() }
        }
    }

    private func keepTicking(_ lanes: [Lane]) async {
        while (try? await clock.sleep(for: tick)) != nil {
            for lane in lanes { lane.waker.yield() }
        }
    }

    private func graceAfterShutdown(_ onCancellation: @Sendable () -> Void) async {
        do {
            try await gracefulShutdown()
            try await clock.sleep(for: grace)
            onCancellation()
        } catch {
            // Everything was done in time.
        }
    }

    /// Returns when no more wake-ups come and everything taken is dealt with.
    private func work(on lane: Lane) async {
        await withDiscardingTaskGroup { group in
            for await _ in lane.wakeUps {
                // A wake-up may still be buffered when the stream is finished.
                guard !Task.isShuttingDownGracefully else { break }
                for job in await lane.take() {
                    // A job that is slow holds up none of its lane.
                    group.addTask {
                        await job()
                        lane.waker.yield()
                    }
                }
            }
        }
    }
}
