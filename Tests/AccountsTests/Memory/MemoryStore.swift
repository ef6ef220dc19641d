import Foundation
import ProviderKit
import Synchronization

@testable import Accounts

/// Implements the ports for linking, merging, deletion and codes with dictionaries.
///
/// It enforces the same rules as PostgreSQL: an identity is unique per provider, an address has one owner, a one-time
/// secret works once, each call is atomic, and a transaction that throws leaves nothing behind. Transactions run one at
/// a time.
struct MemoryStore: TransactionalStore {
    let database: MemoryDatabase
    private let isTransaction: Bool

    init(_ database: MemoryDatabase) {
        self.init(database, isTransaction: false)
    }

    private init(_ database: MemoryDatabase, isTransaction: Bool) {
        self.database = database
        self.isTransaction = isTransaction
    }

    func transaction<Output: Sendable>(_ body: @Sendable (MemoryStore) async throws -> Output) async throws -> Output {
        guard !isTransaction else { return try await body(self) }
        return try await database.turns.run {
            let before = database.snapshot
            do {
                return try await body(MemoryStore(database, isTransaction: true))
            } catch {
                database.restore(before)
                throw error
            }
        }
    }

    /// Runs one statement, which changes either all of its rows or none.
    func run<Output: Sendable>(
        _ application: Application.ID, _ body: @Sendable (inout MemoryRows) throws -> Output
    ) async throws -> Output {
        guard !isTransaction else { return try database.change(application, body) }
        return try await database.turns.run { try database.change(application, body) }
    }
}

/// The rows of all applications, and the clock that their expiry is compared with.
final class MemoryDatabase: TimeSource {
    private struct State {
        var rows: [Application.ID: MemoryRows] = [:]
        var now = Date(timeIntervalSince1970: 1_900_000_000)
    }

    fileprivate let turns = Turns()
    private let state = Mutex(State())

    func now() -> Date { state.withLock(\.now) }

    func advance(_ duration: Duration) {
        state.withLock { $0.now += duration.inSeconds }
    }

    func rows(of application: Application.ID) -> MemoryRows { state.withLock { $0.rows[application] ?? MemoryRows() } }

    fileprivate var snapshot: [Application.ID: MemoryRows] { state.withLock(\.rows) }

    fileprivate func restore(_ rows: [Application.ID: MemoryRows]) { state.withLock { $0.rows = rows } }

    fileprivate func change<Output>(
        _ application: Application.ID, _ body: (inout MemoryRows) throws -> Output
    ) throws -> Output {
        let now = now()
        var rows = rows(of: application)
        rows.now = now
        let result = try body(&rows)
        state.withLock { $0.rows[application] = rows }
        return result
    }
}

/// Lets one task run at a time.
private actor Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated func run<Output: Sendable>(_ body: () async throws -> Output) async throws -> Output {
        await take()
        do {
            let result = try await body()
            await pass()
            return result
        } catch {
            await pass()
            throw error
        }
    }

    private func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func pass() {
        guard !waiting.isEmpty else {
            isTaken = false
            return
        }
        waiting.removeFirst().resume()
    }
}
