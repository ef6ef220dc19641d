import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing
import Tokens

@testable import GatehouseServer

/// Helpers for tests of erasure.
extension TestServer {
    /// Returns the scope of erasures of the application `demo`.
    func scope() async throws -> ErasureScope {
        let scopes = try await backend.scopes(of: backend.configuration)
        return try #require(scopes.first { $0.application.name == "demo" })
    }

    private static let lockScheduler = Statement(
        .write, "SELECT pg_advisory_xact_lock(hashtextextended('gatehouse erasure', 0))")

    /// Runs the body while the server's own scheduler cannot erase.
    func withoutScheduler<Output: Sendable>(_ body: @Sendable () async throws -> Output) async throws -> Output {
        try await backend.database.transaction { transaction in
            _ = try await transaction.execute(Self.lockScheduler, [])
            return try await body()
        }
    }

    /// Erases an account in its grace period as far as is possible now, without the scheduler.
    @discardableResult
    func erase(_ uid: String) async throws -> Erasure.Progress {
        try await withoutScheduler { try await advance(uid) }
    }

    func advance(
        _ uid: String, onStep: @escaping @Sendable (Erasure.Step) async throws -> Void = { _ in }
    ) async throws -> Erasure.Progress {
        let erasure = Erasure(
            store: backend.store, opaque: backend.opaque, certification: ErasureCertifier(keys: backend.keys),
            time: SystemTime(), onStep: onStep)
        let uid = try #require(UUID(uuidString: uid))
        let purge = Purge(store: backend.store, erasure: erasure, pace: ErasurePace { [] })
        let scope = try await scope()
        return try await purge.erase(purge.scheduled(uid, in: scope.application), in: scope)
    }

    /// Moves the creation and last use of all identities and refresh tokens a month into the past.
    func letAMonthPass() async throws {
        try await age("identities", "created_at", "last_used_at", by: "31 days")
        try await age("refresh_tokens", "created_at", by: "31 days")
    }

    /// Ends the grace period of all deleted accounts.
    func makeDue() async throws {
        try await execute("UPDATE accounts SET purge_after = now() WHERE deleted_at IS NOT NULL")
        try await execute("UPDATE erasures SET purge_after = now() WHERE erased_at IS NULL AND restored_at IS NULL")
    }

    /// Returns the database's content as `pg_dump` writes it.
    func dump() async throws -> String {
        try await ProcessDirectory.with { directory in
            let outcome = try await GatehouseProcess.run(
                ["--dbname", databaseURL, "--file", "dump.sql"], program: "pg_dump", in: directory)
            try #require(outcome.status == 0, "\(outcome.errorLines)")
            return try String(contentsOf: directory.url.appending(path: "dump.sql"), encoding: .utf8)
        }
    }

    func accounts(_ uid: String) async throws -> Int {
        try await count("SELECT count(*) FROM accounts WHERE uid = $1", [.uuid(UUID(uuidString: uid))])
    }
}

extension APIClient {
    /// - Returns: the path of the receipt.
    @discardableResult
    func deleteAccount(_ person: Person) async throws -> String {
        let deleted = try await delete("/auth/account", bearer: person.accessToken)
        try #require(deleted.status == 204, "\(deleted.text)")
        return try #require(deleted.headers.first(name: "location"))
    }

    func erasure(_ location: String) async throws -> JSONValue {
        try await send(.GET, location).json
    }
}

extension TestServer {
    func sweep() async throws -> Int {
        try await ExpiredRows(database: backend.database).remove()
    }

    func rows(of table: String) async throws -> Int {
        let rows = try await backend.database.execute(
            Statement(
                .read,
                """
                SELECT (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I', $1::text),
                                                            false, true, '')))[1]::text::bigint
                """), [.text(table)])
        var row = try #require(rows.first)
        return try row.next()
    }
}
