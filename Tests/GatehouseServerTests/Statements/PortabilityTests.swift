import Testing

/// Each statement runs alike on PostgreSQL and on Citus with tables distributed by `application_id`.
struct PortabilityTests {
    /// Statements that read the rows of all applications on purpose, by file; `ApplicationScopeTests` has the reasons.
    private static let unscoped: Set<String> = [
        "ApplicationsTable.swift", "AuditTable.swift", "AuditPartitions.swift", "BacklogTable.swift",
        "PasswordCostsTable.swift", "ProviderSwitchesTable.swift", "RefusalsTable.swift", "RevocationList.swift",
    ]

    @Test func `no statement uses what only PostgreSQL accepts`() async throws {
        try await TestServer.with { server in
            let rules = try await server.portability()
            var used: Set<String> = []
            for statement in try StorageStatement.all() {
                var faults = rules.faults(of: statement.sql)
                if Self.unscoped.contains(statement.file) {
                    if faults.contains(.unscopedTable) { used.insert(statement.file) }
                    faults.subtract([.unscopedTable, .unscopedLock])
                }
                #expect(faults.isEmpty, "\(statement): \(faults.map(\.rawValue))")
            }
            #expect(used == Self.unscoped)
        }
    }

    /// A statement for each fault, and what else it breaks.
    private static let faulty: [(sql: String, faults: Set<PortabilityFault>)] = [
        ("SELECT uid FROM accounts WHERE uid = $2", [.unscopedTable]),
        (
            "SELECT 1 FROM identities i JOIN accounts a ON a.application_id = i.application_id WHERE i.application_id = $1",
            [.unscopedTable]
        ),
        ("SELECT uid FROM accounts WHERE application_id = $2", [.unscopedTable]),
        ("SELECT uid FROM accounts WHERE application_id = $10", [.unscopedTable]),
        ("INSERT INTO proofs (application_id, hash) SELECT application_id, $2 FROM things", [.unscopedTable]),
        ("INSERT INTO proofs (application_id, hash) VALUES ($2, $1)", [.unscopedTable]),
        (
            "DELETE FROM outbox WHERE application_id = $1 AND id IN (SELECT id FROM outbox LIMIT 9)",
            [
                .unscopedTable, .unscopedLock,
            ]
        ),
        (
            "SELECT id FROM outbox WHERE application_id = ANY ($1) FOR UPDATE SKIP LOCKED",
            [.unscopedTable, .unscopedLock]
        ),
        (
            """
            WITH due AS (SELECT $2 AS id)
            SELECT o.id FROM outbox o JOIN due ON due.id = o.id WHERE o.application_id = $1 FOR UPDATE OF o
            """, [.lockJoinsPart]
        ),
        (
            "UPDATE outbox SET due_at = CASE WHEN attempts > 1 THEN now() ELSE due_at END WHERE application_id = $1",
            [.mutableFunction]
        ),
        ("UPDATE outbox SET sent_at = coalesce(sent_at, now()) WHERE application_id = $1", [.mutableFunction]),
        ("UPDATE outbox SET sent_at = coalesce($2, now()) WHERE application_id = $1", [.mutableFunction]),
        ("DELETE FROM sessions WHERE application_id = $1 AND last_used_at < now() - idle", [.mutableFunction]),
        ("UPDATE sessions SET expires_at = created_at + $2::interval WHERE application_id = $1", [.mutableFunction]),
        (
            """
            WITH part AS (SELECT now() AS now)
            UPDATE sessions s SET expires_at = p.now + $2::interval FROM part p WHERE s.application_id = $1
            """, [.mutableFunction]
        ),
        (
            """
            UPDATE session_bearers b SET idle_until = clock.now + b.idle FROM (SELECT now() AS now) AS clock
             WHERE b.application_id = $1
            """, [.mutableFunction]
        ),
        ("UPDATE session_bearers SET idle_until = created_at + idle WHERE application_id = $1", [.mutableFunction]),
        ("UPDATE proofs SET methods = $2 WHERE application_id = $1 AND rfc3339(expires_at) = $3", [.mutableFunction]),
        (
            "INSERT INTO proofs (application_id, hash) VALUES ($1, $2) ON CONFLICT (hash) DO UPDATE SET created_at = now()",
            [.mutableConflict]
        ),
        (
            """
            INSERT INTO proofs (application_id, hash) VALUES ($1, $2)
            ON CONFLICT (hash) DO UPDATE SET created_at = excluded.created_at + $3::interval
            """, [.mutableConflict]
        ),
        ("UPDATE sessions SET device = $2 WHERE application_id = $1 RETURNING now() - created_at", [.returnedFunction]),
        (
            "INSERT INTO outbox (application_id, uid) VALUES ($1, (SELECT d.uid FROM addresses d WHERE d.application_id = $1))",
            [.insertedSubquery]
        ),
        (
            """
            INSERT INTO outbox (application_id, uid) VALUES ($1, $2)
            ON CONFLICT (uid) DO UPDATE SET (id, uid) = (SELECT d.id, d.uid FROM things d)
            """, [.insertedSubquery]
        ),
        ("WITH due AS (SELECT $1 AS id) SELECT id FROM due WHERE EXISTS (SELECT FROM due)", [.emptyList]),
        ("UPDATE sessions SET identity_id = ($2::uuid[])[1] WHERE application_id = $1", [.assignedElement]),
        ("SELECT uid FROM users WHERE application_id = $1", [.readingFunction]),
        ("SELECT uid FROM accounts WHERE application_id = $1 AND may_finish($1, $2, uid)", [.readingFunction]),
        (
            "WITH u AS (UPDATE sessions SET device = $2 WHERE application_id = $1 RETURNING id) SELECT pg_notify($3, $2) FROM u",
            [.remoteNotification]
        ),
        (
            """
            WITH ended AS (UPDATE sessions SET device = $2 WHERE application_id = $1 AND id = $3 RETURNING id)
            SELECT id FROM ended WHERE $3::uuid IS NOT NULL
            """, [.nullComparison]
        ),
        (
            """
            WITH RECURSIVE family AS (SELECT $2 AS uid UNION SELECT uid FROM family)
            INSERT INTO ended_sessions (application_id, id) SELECT $1, uid FROM family
            """, [.insertingRecursion]
        ),
    ]

    @Test func `each fault is found`() {
        let rules = Portability(
            tables: ["accounts", "identities", "addresses", "sessions", "outbox", "proofs", "ended_sessions"],
            mutableFunctions: ["now", "rfc3339", "pg_notify"], intervals: ["idle"], readers: ["users", "may_finish"])
        for (sql, faults) in Self.faulty {
            #expect(rules.faults(of: sql) == faults, "\(sql)")
        }
        #expect(Self.faulty.reduce(into: []) { $0.formUnion($1.faults) } == Set(PortabilityFault.allCases))
    }
}
