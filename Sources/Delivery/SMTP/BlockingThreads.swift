internal import Foundation
internal import Synchronization

/// Runs blocking work on its own threads, at most `limit` at once; other work waits in a first-in, first-out queue.
///
/// A thread starts when there is work for it and ends when there is none, so that no shutdown is needed.
package final class BlockingThreads: Sendable {
    private struct State {
        var waiting: [Job] = []
        var threads = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    package init(limit: Int) { self.limit = max(1, limit) }

    /// Runs `work` on a thread and returns when it is done.
    ///
    /// If the task is cancelled, the call returns at once; `work` occupies its thread until it checks `isAbandoned` and
    /// ends.
    func run(_ work: @escaping @Sendable (_ isAbandoned: () -> Bool) throws -> Void) async throws {
        let job = Job(work)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                job.report(to: continuation)
                enqueue(job)
            }
        } onCancel: {
            job.abandon()
        }
    }

    private func enqueue(_ job: Job) {
        let needsThread = state.withLock { state in
            state.waiting.append(job)
            guard state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        guard needsThread else { return }
        Thread.detachNewThread {
            while let job = self.next() { job.perform() }
        }
    }

    private func next() -> Job? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}

extension BlockingThreads {
    /// A piece of work that resumes its caller exactly once, with the result or with the cancellation, whichever comes
    /// first.
    private final class Job: Sendable {
        private struct State {
            var caller: CheckedContinuation<Void, any Error>?
            var isAbandoned = false
        }

        private let state = Mutex(State())
        private let work: @Sendable (_ isAbandoned: () -> Bool) throws -> Void

        init(_ work: @escaping @Sendable (_ isAbandoned: () -> Bool) throws -> Void) { self.work = work }

        func perform() {
            guard !isAbandoned else { return }
            let result = Result { try work { isAbandoned } }
            takeCaller()?.resume(with: result)
        }

        /// Stores the continuation, or resumes it if the job was cancelled before.
        func report(to caller: CheckedContinuation<Void, any Error>) {
            let isTooLate = state.withLock { state in
                state.caller = state.isAbandoned ? nil : caller
                return state.isAbandoned
            }
            if isTooLate { caller.resume(throwing: CancellationError()) }
        }

        func abandon() {
            state.withLock { $0.isAbandoned = true }
            takeCaller()?.resume(throwing: CancellationError())
        }

        private var isAbandoned: Bool { state.withLock { $0.isAbandoned } }
        private func takeCaller() -> CheckedContinuation<Void, any Error>? { state.withLock { $0.caller.take() } }
    }
}
