import Accounts
import Dispatch
import Passwords

/// A job that holds one thread of a pool until it is lifted.
struct Blockade {
    private let gate = DispatchSemaphore(value: 0)
    private let job: Task<Void, any Error>

    /// Starts the job and returns when the thread is held.
    init(of pool: HashingPool) async {
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let gate = gate
        job = Task {
            defer { signal.finish() }
            try await pool.run {
                signal.finish()
                gate.wait()
            }
        }
        for await _ in started {}
    }

    /// Ends the job and returns when its result has arrived.
    func lift() async throws {
        gate.signal()
        try await job.value
    }
}

extension HashingPool {
    /// Adds a caller and returns once it waits in the queue.
    func queued<Output: Sendable>(
        for requester: HashingRequester? = nil, _ job: @escaping @Sendable () -> Output
    ) async -> Task<Output, any Error> {
        let length = statistics.queued
        let caller = Task { try await run(for: requester, job) }
        while statistics.queued == length {
            await Task.yield()
        }
        return caller
    }

    /// Returns once the pool refuses new callers.
    ///
    /// Until then, a cancelled caller gets a `CancellationError` instead.
    func closed() async {
        while true {
            let newcomer = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await run {}
            }
            guard case .failure(AccountsError.overloaded) = await newcomer.result else { continue }
            return
        }
    }
}
