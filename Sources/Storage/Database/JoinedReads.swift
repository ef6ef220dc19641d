internal import Postgres
internal import Synchronization

/// Reads by key that wait at the same moment, answered by one statement.
///
/// Whoever asks while a statement is on its way shares the next one, which begins when that has ended, or at once where
/// a crowd waits for it and fewer are under way than `width`. So nobody waits for company where there is none, the more
/// ask the less each costs, and everybody is answered from after they asked. Whoever leaves is answered at once and
/// takes nothing from the others.
final class JoinedReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What is read of each key that has a row; a row that can't be read is its key's own misfortune.
    typealias Answers = [Key: Result<Value, any Error>]

    private typealias Principal = CheckedContinuation<Value?, any Error>

    private struct State {
        /// Whoever has asked and isn't answered.
        var callers: [UInt64: Principal] = [:]
        /// Of those, who waits for a reading that has not begun.
        var waiting: [UInt64: Key] = [:]
        var readings = 0
        var lastID: UInt64 = 0
    }

    /// So many in one statement cost a fraction each; more hardly less.
    ///
    /// With 16, `GET /auth/me` took twice as much of PostgreSQL's processor time.
    private static var crowd: Int { 64 }

    private let width: Int
    private let limit: Int
    private let fetch: @Sendable (_ keys: [Key]) async throws -> Answers
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: the most statements under way.
    ///   - limit: the most callers who may wait for the next one.
    ///   - fetch: one statement.
    init(width: Int, limit: Int, fetch: @escaping @Sendable (_ keys: [Key]) async throws -> Answers) {
        self.width = width
        self.limit = limit
        self.fetch = fetch
    }

    /// How many wait for the next statement.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Nothing where there is no such row.
    ///
    /// - Throws: `PostgresError.overloaded` where too many wait, `CancellationError` once the task is cancelled, or what
    ///   the reading threw.
    func value(of key: Key) async throws -> Value? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { principal in
                ask(for: key, as: id, principal)
                // Or left between being asked and being there to leave.
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func ask(for key: Key, as id: UInt64, _ principal: Principal) {
        let (isFull, begins) = state.withLock { state in
            guard state.waiting.count < limit else { return (true, false) }
            state.callers[id] = principal
            state.waiting[id] = key
            let begins = state.readings == 0 || state.readings < width && state.waiting.count >= Self.crowd
            if begins { state.readings += 1 }
            return (false, begins)
        }
        if isFull { principal.resume(throwing: PostgresError.overloaded) }
        // A task of nobody's own: it outlives whoever happened to begin it.
        if begins { Task { await read() } }
    }

    private func leave(_ id: UInt64) {
        let principal = state.withLock { state in
            state.waiting[id] = nil
            return state.callers.removeValue(forKey: id)
        }
        principal?.resume(throwing: CancellationError())
    }

    /// Statement after statement, as long as anybody waits.
    private func read() async {
        while let asked = begin() {
            let answers: Result<Answers, any Error>
            do {
                answers = .success(try await fetch(Array(Set(asked.values))))
            } catch {
                answers = .failure(error)
            }
            for (principal, key) in end(asked) {
                principal.resume(
                    with: answers.flatMap { answers in answers[key].map { $0.map(Optional.some) } ?? .success(nil) })
            }
        }
    }

    /// Who asks from here on is answered by the reading after.
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

    /// Those who are still there.
    private func end(_ asked: [UInt64: Key]) -> [(Principal, Key)] {
        state.withLock { state in
            asked.compactMap { id, key in state.callers.removeValue(forKey: id).map { ($0, key) } }
        }
    }
}
