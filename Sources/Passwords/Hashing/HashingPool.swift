package import Accounts
import Dispatch
import Foundation
import Synchronization

/// A pool of low-priority threads for jobs that use a core for tens of milliseconds, with a queue limited by waiting
/// time.
///
/// A job that would wait too long, or whose group has too many waiting jobs, is refused before anything is computed.
/// A call may reserve its place before it has a job. The queue schedules accepted jobs fairly among their sources. Call
/// `shutdown` to end the threads.
package final class HashingPool: Sendable {
    private struct State {
        var queue = HashingQueue()
        var statistics: HashingStatistics
        var isOpen = true
        var lastID: HashingQueue.ID = 0
        var liveThreads: Int
        var awaitingShutdown: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    /// Signalled once for each queued job, and once for each thread at shutdown.
    private let wakeUps = DispatchSemaphore(value: 0)
    private let limits: Limits
    private let idleTime: Duration
    private let releaseMemory: @Sendable (_ unusedFor: Duration) -> Void

    /// Creates the pool of a server on a machine with this many cores.
    ///
    /// If there are more than two, one core stays free for everything else. One or two are all used, and the queue is
    /// shorter, so that the machine is free again sooner.
    package convenience init(cores: Int) {
        self.init(
            threads: Self.threads(onCores: cores),
            limits: Limits(wait: cores > 2 ? .seconds(2) : .milliseconds(1500)))
    }

    package static func threads(onCores cores: Int) -> Int { cores > 2 ? cores - 1 : cores }

    /// - Parameters:
    ///   - threads: at least one.
    ///   - limits: the limits of the queue.
    ///   - expectedDuration: the average duration until a job has been measured.
    ///   - idleTime: how long unused memory is kept.
    ///   - releaseMemory: called on a thread of the pool, after each job and after `idleTime` without one.
    package init(
        threads: Int, limits: Limits = Limits(), expectedDuration: Duration = .milliseconds(100),
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
            let thread = Thread {
                HashingPriority.lower()
                self.workUntilShutdown()
            }
            thread.name = "hashing-\(number)"
            thread.start()
        }
    }

    package var statistics: HashingStatistics {
        state.withLock { state in
            var statistics = state.statistics
            (statistics.queued, statistics.reserved) = (state.queue.count, state.queue.reserved)
            return statistics
        }
    }

    /// Reserves a place for a job that the requester will run; until then, the place counts as a waiting job.
    /// - Throws: `AccountsError.overloaded`.
    package func reserve(for requester: HashingRequester) throws -> HashingPlace {
        try state.withLock { state in
            if let refusal = refuse(requester, &state) { throw refusal }
            state.lastID += 1
            let place = HashingPlace(id: state.lastID)
            state.queue.reserve(place, for: requester)
            return place
        }
    }

    /// Gives a place back; does nothing if its job has been run or it was given back before.
    package func giveBack(_ place: HashingPlace) { state.withLock { _ = $0.queue.giveBack(place) } }

    /// Checks whether a job would be accepted at this moment; the requester's place then counts for its subject.
    /// - Throws: `AccountsError.overloaded`; the place is given back.
    package func requireCapacity(for requester: HashingRequester) throws {
        try state.withLock { state in
            if let refusal = refuse(requester, &state) { throw refusal }
            if let place = requester.place { state.queue.reserve(place, for: requester) }
        }
    }

    /// Runs a job on a thread of the pool, in the requester's place if it has reserved one.
    /// - Throws: `AccountsError.overloaded` at once if there is no place or the pool was shut down, `CancellationError`
    ///   if the requester disconnects or the task is cancelled while the job waits, and errors of the job.
    package func run<Output: Sendable>(
        for requester: HashingRequester? = nil, _ job: @escaping @Sendable () throws -> Output
    ) async throws -> Output {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let connection = requester?.connection ?? ClientConnection()
        return try await connection.withCloseHandler {
            self.abandon(id)
        } _: {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let job = HashingQueue.Job(
                        id: id, requester: requester, since: .now,
                        run: {
                            let result = Result { try job() }
                            return { continuation.resume(with: result) }
                        }, giveUp: { continuation.resume(throwing: $0) })
                    enqueue(job, isClosed: connection.isClosed || Task.isCancelled)
                    // The client may have disconnected before the job was added to the queue.
                    if connection.isClosed || Task.isCancelled { abandon(id) }
                }
            } onCancel: {
                abandon(id)
            }
        }
    }

    /// Sets the average duration to the median of the results of `measure`, unless jobs have been measured meanwhile.
    ///
    /// `measure` runs several times on as many additional threads as the pool has. Memory is released afterwards.
    package func calibrate(_ measure: @escaping @Sendable () throws -> Duration) async {
        let median = await Calibration(threads: statistics.workers).median(of: measure)
        releaseMemory(.zero)
        state.withLock { state in
            guard let median, state.statistics.done == 0 else { return }
            state.statistics.averageDuration = median
        }
    }

    /// Refuses new jobs, finishes the waiting jobs (for at most `limits.wait`), and ends the threads.
    package func shutdown() async {
        let threads = state.withLock { state in
            guard state.isOpen else { return 0 }
            state.isOpen = false
            return state.liveThreads
        }
        for _ in 0..<threads { wakeUps.signal() }
        await withCheckedContinuation { continuation in
            let ended = state.withLock { state in
                guard state.liveThreads > 0 else { return true }
                state.awaitingShutdown.append(continuation)
                return false
            }
            if ended { continuation.resume() }
        }
    }

    private func enqueue(_ job: HashingQueue.Job, isClosed: Bool) {
        let refusal: (any Error)? = state.withLock { state in
            if let refusal = refuse(job.requester, &state) { return refusal }
            guard !isClosed else {
                state.statistics.abandoned += 1
                return CancellationError()
            }
            state.queue.append(job)
            return nil
        }
        if let refusal { job.giveUp(refusal) } else { wakeUps.signal() }
    }

    /// Takes the requester's place out of the queue, if it has one, and decides whether the requester may join.
    ///
    /// A place that was reserved for the requester's subject is never refused, and one that was reserved before the
    /// subject was known is refused only because of the subject. The server's own jobs are refused only if the queue is
    /// full. All are refused if the pool is shut down.
    /// - Returns: `nil` if the requester may join the queue.
    private func refuse(_ requester: HashingRequester?, _ state: inout State) -> AccountsError? {
        let reserved = requester?.place.flatMap { state.queue.giveBack($0) }
        if let reserved, state.isOpen, reserved.subject == requester?.subject { return nil }
        let places = HashingPlaces(
            threads: state.statistics.workers, running: state.statistics.running,
            waiting: state.queue.count + state.queue.reserved,
            averageDuration: state.statistics.averageDuration, limits: limits)
        let refusal =
            state.isOpen
            ? places.refusal(holding: state.queue.shares(of: requester), hasPlace: reserved != nil)
            : HashingPlaces.Refusal(reason: .closed, retryAfter: .seconds(1))
        guard let refusal else { return nil }
        state.statistics.refusals[refusal.reason, default: 0] += 1
        return .overloaded(retryAfter: refusal.retryAfter)
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
            if let job = nextJob() { perform(job) }
            releaseMemory(idleTime)
        } while !hasEnded()
    }

    private func nextJob() -> HashingQueue.Job? {
        state.withLock { state in
            guard let job = state.queue.removeFirst() else { return nil }
            state.statistics.running += 1
            state.statistics.waits.record(job.since.duration(to: .now))
            return job
        }
    }

    private func perform(_ job: HashingQueue.Job) {
        let start = ContinuousClock.now
        let resume = job.run()
        let duration = start.duration(to: .now)
        state.withLock { state in
            state.statistics.running -= 1
            state.statistics.durations.record(duration)
            state.statistics.averageDuration += (duration - state.statistics.averageDuration) / 8
        }
        resume()
    }

    /// Whether this thread may end; the last thread resumes the callers that wait for the shutdown.
    private func hasEnded() -> Bool {
        let (ended, waiting): (Bool, [CheckedContinuation<Void, Never>]) = state.withLock { state in
            guard !state.isOpen, state.queue.isEmpty else { return (false, []) }
            state.liveThreads -= 1
            return (true, state.liveThreads == 0 ? state.awaitingShutdown : [])
        }
        for continuation in waiting { continuation.resume() }
        return ended
    }
}
