/// Distributes the tables of a database over the nodes of a Citus cluster by `application_id`.
///
/// All rows of an application are then on one node. Tables without that column which the others reference are copied to
/// every node. Everything is derived from the catalog, so a table that a later migration creates needs no change here.
///
/// Each step is a transaction of its own. A run that was interrupted is continued by the next one, and a run on a
/// distributed database does nothing.
package struct Distribution: Sendable {
    /// The setting with which the steps are run.
    ///
    /// Otherwise, copying `applications` makes Citus take over the local tables that foreign keys connect with it, also
    /// `accounts`, and then refuse to distribute them.
    package static let setting = "citus.enable_local_reference_table_foreign_keys = off"

    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    /// The SQL of the steps that are missing, in order.
    ///
    /// - Throws: `PostgresError.distribution` if the database can't be distributed.
    package func missingSteps() async throws -> [String] {
        try await missingSteps(on: database)
    }

    /// Runs the missing steps, and calls `onStep` after each.
    package func run(onStep: (String) -> Void = { _ in }) async throws {
        var latest: String?
        while let step = try await runNext() {
            guard step != latest else { throw PostgresError.distribution("\(step): it changed nothing") }
            onStep(step)
            latest = step
        }
    }

    /// Checks the settings of the nodes, and that the distributed tables are where they should be.
    ///
    /// - Throws: `PostgresError.distribution` with all faults.
    package func check() async throws {
        let groups = Set(try await DistributedTable.all(on: database).compactMap(\.group))
        let views = try await database.execute(.localViews).decoded { try $0.next(String.self) }
        let faults =
            (groups.count > 1 ? ["the tables are in \(groups.count) colocation groups"] : [])
            + (groups.isEmpty ? [] : views.map { "the view \($0) is on the coordinator alone" })
            + (try await database.execute(.nodeFaults).decoded { try $0.next(String.self) })
        guard faults.isEmpty else { throw PostgresError.distribution(faults.joined(separator: "; ")) }
    }

    private func runNext() async throws -> String? {
        try await database.transaction { transaction -> String? in
            // The lock of the migrator, so that no migration runs in between.
            try await transaction.script(
                """
                SET LOCAL statement_timeout = 0;
                SET LOCAL lock_timeout = 0;
                SET LOCAL idle_in_transaction_session_timeout = 0;
                SET LOCAL \(Self.setting);
                SELECT pg_advisory_xact_lock(\(Migrator.lock));
                """)
            guard let step = try await missingSteps(on: transaction).first else { return nil }
            do {
                try await transaction.script(step)
            } catch let error as PostgresError {
                throw PostgresError.distribution("\(step) failed: \(error.fault)")
            }
            return step
        }
    }

    private func missingSteps(on executor: some Executor) async throws -> [String] {
        guard var state = try await executor.first(.hasCitus), try state.next() else {
            throw PostgresError.distribution("the database has no extension citus")
        }
        guard var node = try await executor.first(.node) else { return [] }
        guard try node.next() else { throw PostgresError.distribution("this node is a worker; use the coordinator") }
        guard try node.next() else {
            throw PostgresError.distribution("no node holds shards; add the workers with citus_add_node")
        }
        let foreign: [String] = try node.next()
        guard foreign.isEmpty else {
            throw PostgresError.distribution(
                "the role does not own \(foreign.joined(separator: ", ")); run this as the owner")
        }
        let tables = try await DistributedTable.all(on: executor)
        let functions = try await executor.execute(.localFunctions).decoded { try $0.next(String.self) }
        return try Self.missingSteps(for: tables, localFunctions: functions)
    }

    /// The steps for tables in this state.
    static func missingSteps(
        for tables: [DistributedTable], localFunctions: [String]
    ) throws(PostgresError) -> [String] {
        let distributed = tables.filter(\.hasApplication)
        let references = Set(distributed.flatMap(\.references))
        let copied = tables.filter { !$0.hasApplication && references.contains($0.name) }
        for table in distributed {
            if case .distributed(DistributedTable.column, _) = table.placement { continue }
            guard case .local = table.placement else {
                throw .distribution("\(table.name) is distributed in another way; undistribute it first")
            }
        }
        let ordered = try inOrder(distributed, after: Set(copied.map(\.name)))
        var steps = copied.filter { $0.placement == .local }
            .map { "SELECT create_reference_table(\(literal($0.name)))" }
        // The other tables are colocated with the first one.
        let first = ordered.first { $0.placement != .local } ?? ordered.first
        steps += ordered.filter { $0.placement == .local }.map { table in
            let group = first.map { $0.name == table.name ? "" : ", colocate_with => \(literal($0.name))" } ?? ""
            return
                "SELECT create_distributed_table(\(literal(table.name)), \(literal(DistributedTable.column))\(group))"
        }
        // Citus keeps the rows that it has copied to the nodes in the local tables too. They can be removed only once
        // all tables that reference them are distributed.
        steps += (copied + ordered).filter(\.hasLocalRows).map {
            "SELECT truncate_local_data_after_distributing_table(\(literal($0.name)))"
        }
        return steps + localFunctions.map { "SELECT create_distributed_function(\(literal($0)))" }
    }

    /// Orders the tables so that each comes after those that it references.
    private static func inOrder(
        _ tables: [DistributedTable], after placed: Set<String>
    ) throws(PostgresError) -> [DistributedTable] {
        var (ordered, placed, rest) = ([DistributedTable](), placed, tables)
        while !rest.isEmpty {
            let ready = rest.filter { $0.references.allSatisfy(placed.contains) }
            guard !ready.isEmpty else {
                let names = rest.map(\.name).joined(separator: ", ")
                throw .distribution("these tables reference each other: \(names)")
            }
            ordered += ready
            placed.formUnion(ready.map(\.name))
            rest.removeAll { placed.contains($0.name) }
        }
        return ordered
    }

    private static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}

extension Statement {
    fileprivate static let hasCitus = Self(.read, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')")

    /// Whether this is the coordinator, whether any node holds shards, and the tables of another owner.
    fileprivate static let node = Self(
        .read,
        """
        SELECT citus_is_coordinator(),
               EXISTS (SELECT FROM pg_dist_node WHERE shouldhaveshards AND isactive AND noderole = 'primary'),
               ARRAY(SELECT c.relname::text FROM pg_class c
                      WHERE c.relnamespace = current_schema::regnamespace AND c.relkind IN ('r', 'p')
                        AND NOT pg_has_role(c.relowner, 'USAGE')
                      ORDER BY 1)
        """)

    /// The functions that were created on the coordinator alone, because they use tables that were not distributed yet.
    fileprivate static let localFunctions = Self(
        .read,
        """
        SELECT p.oid::regprocedure::text FROM pg_proc p
         WHERE p.pronamespace = current_schema::regnamespace
           AND NOT EXISTS (SELECT FROM pg_depend d
                            WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
           AND NOT EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
         ORDER BY 1
        """)

    fileprivate static let localViews = Self(
        .read,
        """
        SELECT c.relname::text FROM pg_class c
         WHERE c.relnamespace = current_schema::regnamespace AND c.relkind = 'v'
           AND NOT EXISTS (SELECT FROM pg_depend d
                            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
           AND NOT EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_class'::regclass AND o.objid = c.oid)
         ORDER BY 1
        """)

    /// One line for each setting of a node that makes the server fail or slow.
    ///
    /// Round-robin runs `pg_notify` on a worker, where no replica listens. With JIT a sign-in takes seconds, because
    /// the planner overestimates intermediate results. A write on several nodes commits in two phases. Violations that
    /// another node reports are known by their English text (`PostgresError.isUniqueViolation`). The session that asks
    /// has turned JIT off for itself, so that the coordinator's default is read.
    fileprivate static let nodeFaults = Self(
        .read,
        """
        WITH nodes (name, answered, answer) AS (
            SELECT 'the coordinator', true,
                   json_build_object('jit', (SELECT reset_val FROM pg_settings WHERE name = 'jit'),
                                     'policy', current_setting('citus.task_assignment_policy'),
                                     'messages', current_setting('lc_messages'),
                                     'prepared', current_setting('max_prepared_transactions'))::text
            UNION ALL
            SELECT format('%s:%s', nodename, nodeport), success, result
              FROM run_command_on_workers($$
                   SELECT json_build_object('jit', current_setting('jit'),
                                            'policy', current_setting('citus.task_assignment_policy'),
                                            'messages', current_setting('lc_messages'),
                                            'prepared', current_setting('max_prepared_transactions'))
              $$)
        ), settings AS MATERIALIZED (
            SELECT name, CASE WHEN answered THEN answer::json END AS value, answer FROM nodes
        )
        SELECT format('%s: %s', name, fault) FROM settings, LATERAL (VALUES
            (CASE WHEN value IS NULL THEN answer END),
            (CASE WHEN value ->> 'jit' = 'on' THEN 'set jit to off' END),
            (CASE WHEN value ->> 'policy' = 'round-robin' THEN
                  'set citus.task_assignment_policy to anything but round-robin' END),
            (CASE WHEN value ->> 'messages' !~ '^(C|POSIX|en)' THEN 'set lc_messages to C' END),
            (CASE WHEN value ->> 'prepared' = '0' THEN 'set max_prepared_transactions' END)
        ) AS found (fault) WHERE fault IS NOT NULL
        """)
}
