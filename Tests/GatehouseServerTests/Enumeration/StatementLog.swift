import Foundation
import GatehouseTesting
import Migrations

@testable import GatehouseServer

/// A private PostgreSQL server that logs each statement before it runs it.
struct StatementLog: Sendable {
    let databaseURL: String
    private let path: String
    private static let mark = "@@ "

    /// Runs the body with a migrated database in this server.
    static func with<Output: Sendable>(_ body: (StatementLog) async throws -> Output) async throws -> Output {
        var options = PrivateCluster.Options()
        options.durable = false
        options.ephemeral = true
        options.settings = [
            "log_statement": "all", "log_line_prefix": mark + "%v ", "log_parameter_max_length": "0",
            "max_connections": "50", "shared_buffers": "32MB",
        ]
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        let cluster = PrivateCluster(directory: "/tmp/gatehouse-\(name)", options: options)
        try await cluster.start()
        return try await attempt {
            try await body(StatementLog(databaseURL: cluster.url, path: cluster.paths.log))
        } finally: {
            await cluster.stop()
        }
    }

    /// Returns the body's result and the statements that requests sent while it ran, in order.
    func statements<Output>(of body: () async throws -> Output) async throws -> (Output, [String]) {
        let start = try size()
        let result = try await body()
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        try file.seek(toOffset: start)
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        return (result, Self.entries(of: text).compactMap(Self.statement))
    }

    /// Returns the log entries without the transactions of services.
    ///
    /// These seal the audit or refresh the planner's statistics. Entries of one transaction have the same virtual
    /// transaction id.
    private static func entries(of text: String) -> [String] {
        let entries = text.split(separator: mark).map { $0.split(separator: " ", maxSplits: 1) }.filter {
            $0.count == 2
        }
        // A service's transaction that was logged only in part may contain no more than its first and last statements.
        let transactions = Dictionary(grouping: entries) { $0[0] }
        let ofServices = transactions.filter { _, said in
            said.contains { line in ofTransactions.contains { line[1].contains($0) } }
                || said.allSatisfy { line in frame.contains { line[1].contains($0) } }
        }
        return entries.filter { ofServices[$0[0]] == nil }.map { String($0[1]) }
    }

    private static let ofTransactions = [
        "audit_events WHERE batch IS NULL", "audit_batches", "pg_try_advisory_xact_lock(7162534108259)",
        "ANALYZE (SKIP_LOCKED)",
    ]
    private static let frame = ["statement: BEGIN", "statement: COMMIT", ": BEGIN", ": COMMIT"]

    private func size() throws -> UInt64 {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        return try file.seekToEnd()
    }

    /// Returns the SQL of a log entry, or `nil` if the entry is not a statement of a request.
    private static func statement(_ entry: String) -> String? {
        guard let match = entry.firstMatch(of: /^LOG:  (?:execute [^:]*|statement): ([\s\S]*)/) else { return nil }
        let sql = match.1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        // Only services skip rows that are locked for an update: they take from queues and remove expired rows.
        let isOfService =
            sql.contains(/FOR UPDATE (OF [a-z]+ )?SKIP LOCKED/) || ofServices.contains { sql.hasPrefix($0) }
        return isOfService ? nil : sql
    }

    /// Further statements of services.
    private static let ofServices = [
        "UPDATE outbox", "LISTEN", "SELECT 1", "SET ", "SELECT set_config('synchronous_commit'",
        "SELECT i.uid, i.id, i.created_at", "WITH over AS", "SELECT id, name FROM applications",
        "SELECT c.oid::regclass::text FROM pg_stat_user_tables", "SELECT greatest(reltuples",
        "SELECT application_id, split_part(hash", "SELECT prepare_audit_partitions", "SELECT drop_audit_partitions",
        "WITH past AS", "SELECT application_id, id, 2147483647 FROM sessions", "SELECT 'accessTokens' AS purpose",
    ]
}
