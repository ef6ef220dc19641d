internal import Postgres
internal import Synchronization

/// Answers concurrent calls by key with one statement.
///
/// A caller that arrives while a statement is in progress shares the next statement. The next statement starts when the
/// current one has ended, or at once if a crowd waits for it and fewer than `width` statements are in progress. A
/// single caller therefore never waits for others, each call gets cheaper as more arrive, and each statement starts
/// after the calls that it answers. A cancelled caller returns at once and does not affect the others.
final class JoinedCalls<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The value of each key that has a row; a row that can't be decoded fails the calls for its key alone.
    typealias Answers = [Key: Result<Value, any Error>]

    private struct Waiting {
        let key: Key
        /// Until when the statement must have started.
        let latest: ContinuousClock.Instant
    }

    private typealias Caller = CheckedContinuation<Value?, any Error>

    private struct State {
        /// The calls without a result yet.
        var callers: [UInt64: Caller] = [:]
        /// The calls among them that wait for a statement that has not started.
        var waiting: [UInt64: Waiting] = [:]
        var statements = 0
        var lastID: UInt64 = 0
    }

    private let crowd, most, width, limit: Int
    private let deadline: Duration
    private let fetch: @Sendable (_ keys: [Key]) async throws -> Answers
    private let state = Mutex(State())

    /// - Parameters:
    ///   - crowd: the number of waiting callers that starts another statement while one is in progress.
    ///   - most: the maximum number of keys in a statement.
    ///   - width: the maximum number of statements in progress.
    ///   - limit: the maximum number of callers that may wait for the next statement.
    ///   - deadline: how long a caller may wait for its statement to start.
    ///   - fetch: runs one statement for the given keys.
    init(
        crowd: Int, most: Int, width: Int, limit: Int, deadline: Duration,
        fetch: @escaping @Sendable (_ keys: [Key]) async throws -> Answers
    ) {
        (self.crowd, self.most, self.width, self.limit) = (crowd, most, width, limit)
        self.deadline = deadline
        self.fetch = fetch
    }

    /// Whether no statement is in progress, and so no caller waits.
    var isIdle: Bool { state.withLock { $0.statements == 0 } }

    /// The number of callers that wait for the next statement.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// The value of the key's row, or `nil` if there is no such row.
    ///
    /// - Throws: `PostgresError.overloaded` if too many callers wait, `.deadlineExceeded` if the statement did not
    ///   start in time, `CancellationError` once the task is cancelled, or the error of `fetch` or of decoding the row.
    func value(of key: Key) async throws -> Value? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                ask(for: key, as: id, caller)
                // The caller may have been cancelled before it was registered.
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func ask(for key: Key, as id: UInt64, _ caller: Caller) {
        let (isFull, begins) = state.withLock { state in
            guard state.waiting.count < limit else { return (true, false) }
            state.callers[id] = caller
            state.waiting[id] = Waiting(key: key, latest: .now + deadline)
            let begins = state.statements == 0 || state.statements < width && state.waiting.count >= crowd
            if begins { state.statements += 1 }
            return (false, begins)
        }
        if isFull { caller.resume(throwing: PostgresError.overloaded) }
        // An unstructured task, because it outlives the caller that started it.
        if begins { Task { await work() } }
    }

    private func leave(_ id: UInt64) {
        let caller = state.withLock { state in
            state.waiting[id] = nil
            return state.callers.removeValue(forKey: id)
        }
        caller?.resume(throwing: CancellationError())
    }

    /// Runs one statement after another as long as callers wait.
    private func work() async {
        while let asked = begin() {
            let answers: Result<Answers, any Error>
            do {
                answers = .success(try await fetch(Array(Set(asked.values))))
            } catch {
                answers = .failure(error)
            }
            for (caller, key) in end(asked) {
                caller.resume(
                    with: answers.flatMap { answers in answers[key].map { $0.map(Optional.some) } ?? .success(nil) })
            }
        }
    }

    /// Returns the callers for the statement that starts now, or `nil` if no caller waits.
    ///
    /// Callers that arrive later wait for the statement after this one, and those that have waited too long fail.
    private func begin() -> [UInt64: Key]? {
        let now = ContinuousClock.now
        let (asked, late) = state.withLock { state -> ([UInt64: Key]?, [Caller]) in
            let late = state.waiting.filter { $0.value.latest < now }.keys.compactMap { id in
                state.waiting[id] = nil
                return state.callers.removeValue(forKey: id)
            }
            guard !state.waiting.isEmpty else {
                state.statements -= 1
                return (nil, late)
            }
            // Those that have waited longest, whose ids are the lowest.
            let next = state.waiting.count > most ? state.waiting.keys.sorted()[most] : .max
            let asked = state.waiting.filter { $0.key < next }.mapValues(\.key)
            state.waiting = state.waiting.filter { $0.key >= next }
            return (asked, late)
        }
        for caller in late { caller.resume(throwing: PostgresError.deadlineExceeded) }
        return asked
    }

    /// Removes and returns the callers of a finished statement that were not cancelled.
    private func end(_ asked: [UInt64: Key]) -> [(Caller, Key)] {
        state.withLock { state in
            asked.compactMap { id, key in state.callers.removeValue(forKey: id).map { ($0, key) } }
        }
    }
}
