import Foundation
import GatehouseTesting
import Migrations
import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// Each statement that reads a table with an `application_id` restricts it to one application, and each key begins with
/// it: no data crosses applications, and tables can be distributed by application.
struct ApplicationScopeTests {
    /// A statement that reads the rows of all applications on purpose.
    private struct Exception {
        let file: String
        var tables = ""
        let reason: String

        func covers(_ scan: QueryPlan.Scan, of statement: StorageStatement) -> Bool {
            file == statement.file && scan.table.hasPrefix(tables)
        }
    }

    private static let exceptions = [
        Exception(
            file: "AuditTable.swift", tables: "audit_events",
            reason: "the chain is one for all applications, so that no application can be left out"),
        Exception(
            file: "RefusalsTable.swift", tables: "refusals",
            reason: "minutes that are over go into the chain, which is one for all"),
        Exception(file: "AuditPartitions.swift", tables: "audit_events", reason: "as for the chain"),
        Exception(
            file: "PasswordCostsTable.swift", tables: "passwords",
            reason: "a replica learns from time to time what the passwords of all applications cost"),
        Exception(
            file: "ApplicationsTable.swift",
            reason: "workers read which applications have something due, and then ask each of these"),
        Exception(
            file: "ProviderSwitchesTable.swift", tables: "provider_switches",
            reason: "a replica follows the switches of all applications"),
        Exception(file: "BacklogTable.swift", reason: "gauges count waiting rows of all applications"),
        Exception(
            file: "RevocationList.swift", tables: "sessions", reason: "a replica that begins to listen learns of all"),
        Exception(
            file: "RevocationList.swift", tables: "ended_sessions",
            reason: "a replica that begins to listen learns of all"),
    ]

    @Test(.needsOneNode) func `every statement keeps to its application`() async throws {
        try await TestServer.with { server in
            try await server.installPlanner()
            let scoped = try await server.tablesOfApplications()
            var used: Set<Int> = []
            for statement in try StorageStatement.all() {
                let plan: QueryPlan
                do {
                    plan = try await server.plan(of: statement.sql)
                } catch {
                    Issue.record("\(statement): \(String(reflecting: error))")
                    continue
                }
                for scan in plan.scans where scoped.contains(scan.table) && !scan.isScoped {
                    if let exception = Self.exceptions.firstIndex(where: { $0.covers(scan, of: statement) }) {
                        used.insert(exception)
                    } else {
                        Issue.record("\(statement): \(scan)")
                    }
                }
            }
            for (index, exception) in Self.exceptions.enumerated() where !used.contains(index) {
                Issue.record("\(exception.file) needs no exception: \(exception.reason)")
            }
        }
    }

    /// Checks the bodies of SQL functions, which a plan does not show.
    @Test(.needsOneNode) func `functions keep to the application that they are given`() async throws {
        try await TestServer.with { server in
            let rows = try await server.backend.database.execute(
                Statement(
                    .read,
                    """
                    SELECT p.proname::text, pg_get_functiondef(p.oid)
                      FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
                     WHERE p.pronamespace = 'public'::regnamespace AND l.lanname = 'sql'
                       AND pg_get_functiondef(p.oid) ~ '(FROM|JOIN) [a-z]'
                     ORDER BY 1
                    """), [])
            var names: [String] = []
            for row in rows {
                var row = row
                let (name, definition): (String, String) = (try row.next(), try row.next())
                names.append(name)
                #expect(definition.contains(/application_id = (?:[a-z_]+\.)?application/), "\(definition)")
            }
            #expect(names == ["may_finish", "uids_of"])
        }
    }

    /// Keys that do not contain the application, each with its reason.
    private static let globalKeys: [String: String] = [:]

    /// Tables whose rows belong to no application.
    private static let globalTables = [
        "applications": "what the numbers stand for",
        "gatehouse_migrations": "the schema is one for all",
        "root_key": "the installation's",
        "text_budget": "one bill for all, so that one limit",
        "audit_batches": "one chain for all",
        "audit_partitions": "months of the audit of all",
    ]

    @Test func `every key begins with the application`() async throws {
        try await TestServer.with { server in
            let rows = try await server.backend.database.execute(
                Statement(
                    .read,
                    """
                    SELECT t.relname::text, k.relname::text,
                           (SELECT a.attname::text FROM pg_attribute a
                             WHERE a.attrelid = t.oid AND a.attnum = i.indkey[0])
                      FROM pg_index i
                      JOIN pg_class k ON k.oid = i.indexrelid
                      JOIN pg_class t ON t.oid = i.indrelid
                     WHERE t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p') AND i.indisunique
                       AND NOT t.relispartition
                     ORDER BY 1, 2
                    """), [])
            let scoped = try await server.tablesOfApplications()
            var seen: Set<String> = []
            for row in rows {
                var row = row
                let (table, key, first): (String, String, String?) = (try row.next(), try row.next(), try row.next())
                guard first != "application_id" else { continue }
                seen.insert(scoped.contains(table) ? key : table)
                if scoped.contains(table) {
                    #expect(Self.globalKeys[key] != nil, "\(key) of \(table) begins with \(first ?? "an expression")")
                } else {
                    #expect(Self.globalTables[table] != nil, "\(table) has no application_id")
                }
            }
            #expect(seen == Set(Self.globalKeys.keys).union(Self.globalTables.keys))
        }
    }

    @Test func `every reference stays within its application`() async throws {
        try await TestServer.with { server in
            let rows = try await server.backend.database.execute(
                Statement(
                    .read,
                    """
                    SELECT c.conrelid::regclass::text, c.confrelid::regclass::text, c.conname::text,
                           EXISTS (SELECT FROM generate_subscripts(c.conkey, 1) place
                                     JOIN pg_attribute here
                                       ON here.attrelid = c.conrelid AND here.attnum = c.conkey[place]
                                     JOIN pg_attribute there
                                       ON there.attrelid = c.confrelid AND there.attnum = c.confkey[place]
                                    WHERE here.attname = 'application_id' AND there.attname = 'application_id')
                      FROM pg_constraint c
                     WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace
                     ORDER BY 1, 3
                    """), [])
            let scoped = try await server.tablesOfApplications()
            var references = 0
            for row in rows {
                var row = row
                let (from, to, name): (String, String, String) = (try row.next(), try row.next(), try row.next())
                guard scoped.contains(from), scoped.contains(to) else { continue }
                references += 1
                let isWithin: Bool = try row.next()
                #expect(isWithin, "\(name) of \(from) refers to \(to)")
            }
            #expect(references > 5)
        }
    }
}
