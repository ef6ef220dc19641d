internal import Postgres
internal import Synchronization

/// A transaction in progress, with the statements whose answers have not been checked yet.
///
/// Statements whose results no caller needs are sent with the next one that a caller waits for, so that consecutive
/// writes take one round trip.
/// Their answers are checked in the order of the statements: before the next answer that a caller waits for, and at the
/// latest before COMMIT. After a failed check, nothing is committed, even if the caller ignores the error.
final class OpenTransaction: Sendable {
    typealias Check = @Sendable (Rows) async throws -> Void

    private struct State {
        var unchecked: [(answer: PendingAnswer, check: Check)] = []
        var failure: (any Error)?
    }

    private let transaction: Transaction
    private let state = Mutex(State())

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// Runs a statement and waits for its answer.
    func run(_ statement: Statement, _ binds: [Bind]) async throws -> Rows {
        guard let rows = try await run([(statement, binds)]).first else { throw PostgresError.cancelled }
        return rows
    }

    /// Runs several statements in one round trip.
    func run(_ calls: [(statement: Statement, binds: [Bind])]) async throws -> [Rows] {
        let answered = Answered()
        for call in calls { try send(call.statement, call.binds, check: answered.append) }
        // The answers are checked in the order of the statements, so that the error thrown is that of the first one.
        try await checkAnswers()
        return answered.rows
    }

    /// Adds a statement; `check` gets its answer later, and may run further statements.
    func send(_ statement: Statement, _ binds: [Bind], check: @escaping Check) throws {
        let answer = try transaction.send(statement, binds)
        state.withLock { $0.unchecked.append((answer, check)) }
    }

    /// Checks the remaining answers before COMMIT.
    ///
    /// - Throws: the first error of the transaction's checks, even if a caller has ignored it.
    func finish() async throws {
        if let failure = state.withLock(\.failure) { throw failure }
        try await checkAnswers()
    }

    private func checkAnswers() async throws {
        while let next = state.withLock({ $0.unchecked.isEmpty ? nil : $0.unchecked.removeFirst() }) {
            do {
                try await next.check(try await translatingErrors { try await next.answer.rows() })
            } catch {
                state.withLock { $0.failure = $0.failure ?? error }
                throw error
            }
        }
    }
}

/// The answers that a caller waits for.
private final class Answered: Sendable {
    private let answers = Mutex<[Rows]>([])

    var rows: [Rows] { answers.withLock { $0 } }

    @Sendable func append(_ rows: Rows) { answers.withLock { $0.append(rows) } }
}
