internal import Postgres
internal import Synchronization

/// Answers concurrent reads by key with one statement.
///
/// A caller that arrives while a statement is in progress shares the next statement. The next statement starts when the
/// current one has ended, or at once if many callers wait for it and fewer than `width` statements are in progress. A
/// single caller therefore never waits for others, each read gets cheaper as more arrive, and each result is read after
/// its call. A cancelled caller returns at once and does not affect the others.
final class JoinedReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The value of each key that has a row; a row that can't be decoded fails the calls for its key alone.
    typealias Answers = [Key: Result<Value, any Error>]

    private typealias Caller = CheckedContinuation<Value?, any Error>

    private struct State {
        /// The calls without a result yet.
        var callers: [UInt64: Caller] = [:]
        /// The calls among them that wait for a statement that has not started.
        var waiting: [UInt64: Key] = [:]
        var readings = 0
        var lastID: UInt64 = 0
    }

    /// The number of waiting callers that starts another statement while one is in progress.
    ///
    /// With 64 keys in one statement, each key costs a fraction of a single read; more keys save little more. With 16,
    /// `GET /auth/me` took twice as much of PostgreSQL's processor time.
    private static var crowd: Int { 64 }

    private let width: Int
    private let limit: Int
    private let fetch: @Sendable (_ keys: [Key]) async throws -> Answers
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: the maximum number of statements in progress.
    ///   - limit: the maximum number of callers that may wait for the next statement.
    ///   - fetch: runs one statement for the given keys.
    init(width: Int, limit: Int, fetch: @escaping @Sendable (_ keys: [Key]) async throws -> Answers) {
        self.width = width
        self.limit = limit
        self.fetch = fetch
    }

    /// The number of callers that wait for the next statement.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// The value of the key's row, or `nil` if there is no such row.
    ///
    /// - Throws: `PostgresError.overloaded` if too many callers wait, `CancellationError` once the task is cancelled,
    ///   or the error of `fetch` or of decoding the row.
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
            state.waiting[id] = key
            let begins = state.readings == 0 || state.readings < width && state.waiting.count >= Self.crowd
            if begins { state.readings += 1 }
            return (false, begins)
        }
        if isFull { caller.resume(throwing: PostgresError.overloaded) }
        // An unstructured task, because it outlives the caller that started it.
        if begins { Task { await read() } }
    }

    private func leave(_ id: UInt64) {
        let caller = state.withLock { state in
            state.waiting[id] = nil
            return state.callers.removeValue(forKey: id)
        }
        caller?.resume(throwing: CancellationError())
    }

    /// Runs one statement after another as long as callers wait.
    private func read() async {
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
    /// Callers that arrive later wait for the statement after this one.
    private func begin() -> [UInt64: Key]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.readings -= 1
                return nil
            }
            defer { state.waiting = [:] }
            return state.waiting
        }
    }

    /// Removes and returns the callers of a finished statement that were not cancelled.
    private func end(_ asked: [UInt64: Key]) -> [(Caller, Key)] {
        state.withLock { state in
            asked.compactMap { id, key in state.callers.removeValue(forKey: id).map { ($0, key) } }
        }
    }
}
