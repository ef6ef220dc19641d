import Accounts
import Dispatch
import Foundation
import Synchronization

/// Threads of their own for work that takes a core for tens of milliseconds, behind a queue bounded by waiting time.
///
/// A caller who would wait too long is refused at once, before anything is computed. `shutdown` must be called for the
/// threads to end.
package final class HashingPool: Sendable {
    package struct Limits: Sendable {
        /// The longest that a caller may expect to wait for a thread, judged by the average duration of past jobs.
        package var wait: Duration
        /// The most callers that may wait, whatever the average says.
        package var length: Int

        package init(wait: Duration = .seconds(2), length: Int = 512) {
            self.wait = wait
            self.length = length
        }
    }

    private struct State {
        var queue = HashingQueue()
        var statistics: HashingStatistics
        var isOpen = true
        var lastID: HashingQueue.ID = 0
        var liveThreads: Int
        var awaitingShutdown: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    /// Signalled once for every job that is queued, and once for every thread at shutdown.
    private let wakeUps = DispatchSemaphore(value: 0)
    private let limits: Limits
    private let idleTime: Duration
    private let releaseMemory: @Sendable (_ unusedFor: Duration) -> Void

    /// - Parameters:
    ///   - threads: at least one.
    ///   - limits: beyond them a caller is refused.
    ///   - expectedDuration: stands for the average until jobs were measured.
    ///   - idleTime: after this long without use, memory goes back to the system.
    ///   - releaseMemory: called on a thread of the pool, after each job and after `idleTime` without one.
    package init(
        threads: Int = ProcessInfo.processInfo.activeProcessorCount,
        limits: Limits = Limits(),
        expectedDuration: Duration = .milliseconds(100),
        idleTime: Duration = .seconds(30),
        releaseMemory: @escaping @Sendable (_ unusedFor: Duration) -> Void = { age in
            MemoryRegions.shared.release(unusedFor: age)
        }
    ) {
        let threads = max(1, threads)
        let statistics = HashingStatistics(workers: threads, averageDuration: expectedDuration)
        state = Mutex(State(statistics: statistics, liveThreads: threads))
        self.limits = limits
        self.idleTime = idleTime
        self.releaseMemory = releaseMemory
        for number in 1...threads {
            let thread = Thread { self.workUntilShutdown() }
            thread.name = "hashing-\(number)"
            thread.start()
        }
    }

    package var statistics: HashingStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.queued = state.queue.count
            return statistics
        }
    }

    /// - Throws: `AccountsError.overloaded` at once when the queue is full or the pool shut down, `CancellationError`
    ///   when the caller's task is cancelled while the job waits, or what the job throws.
    package func run<Output: Sendable>(_ job: @escaping @Sendable () throws -> Output) async throws -> Output {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = HashingQueue.Job(
                    id: id,
                    run: {
                        let result = Result { try job() }
                        return { continuation.resume(with: result) }
                    },
                    giveUp: { continuation.resume(throwing: $0) })
                enqueue(job)
                // The handler may have run before there was anything to abandon.
                if Task.isCancelled {
                    abandon(id)
                }
            }
        } onCancel: {
            abandon(id)
        }
    }

    /// Refuses new jobs, finishes those that wait (which takes as long as the limit of the wait), and ends the threads.
    package func shutdown() async {
        let threads = state.withLock { state in
            guard state.isOpen else { return 0 }
            state.isOpen = false
            return state.liveThreads
        }
        for _ in 0..<threads {
            wakeUps.signal()
        }
        await withCheckedContinuation { continuation in
            let ended = state.withLock { state in
                guard state.liveThreads > 0 else { return true }
                state.awaitingShutdown.append(continuation)
                return false
            }
            if ended {
                continuation.resume()
            }
        }
    }
}

extension HashingPool {
    private func enqueue(_ job: HashingQueue.Job) {
        let refusal: AccountsError? = state.withLock { state in
            // How many jobs must end before this one starts, and how long that takes.
            let ahead = max(0, state.queue.count + state.statistics.running + 1 - state.statistics.workers)
            let wait = state.statistics.averageDuration * ahead / state.statistics.workers
            guard state.isOpen, wait <= limits.wait, ahead <= limits.length else {
                state.statistics.rejected += 1
                return .overloaded(retryAfter: max(wait, .seconds(1)))
            }
            state.queue.append(job)
            return nil
        }
        if let refusal {
            job.giveUp(refusal)
        } else {
            wakeUps.signal()
        }
    }

    private func abandon(_ id: HashingQueue.ID) {
        let job = state.withLock { state in
            let job = state.queue.remove(id)
            state.statistics.abandoned += job == nil ? 0 : 1
            return job
        }
        job?.giveUp(CancellationError())
    }

    private func workUntilShutdown() {
        repeat {
            _ = wakeUps.wait(timeout: .now() + idleTime / .seconds(1))
            if let job = nextJob() {
                perform(job)
            }
            releaseMemory(idleTime)
        } while !hasEnded()
    }

    private func nextJob() -> HashingQueue.Job? {
        state.withLock { state in
            let job = state.queue.removeFirst()
            state.statistics.running += job == nil ? 0 : 1
            return job
        }
    }

    private func perform(_ job: HashingQueue.Job) {
        let start = ContinuousClock.now
        let answer = job.run()
        let duration = start.duration(to: .now)
        state.withLock { state in
            state.statistics.running -= 1
            state.statistics.done += 1
            state.statistics.averageDuration += (duration - state.statistics.averageDuration) / 8
        }
        answer()
    }

    /// Whether this thread has nothing more to do, ever; the last one tells those who wait for the shutdown.
    private func hasEnded() -> Bool {
        let (ended, waiting): (Bool, [CheckedContinuation<Void, Never>]) = state.withLock { state in
            guard !state.isOpen, state.queue.count == 0 else { return (false, []) }
            state.liveThreads -= 1
            return (true, state.liveThreads == 0 ? state.awaitingShutdown : [])
        }
        for continuation in waiting {
            continuation.resume()
        }
        return ended
    }
}
