import Foundation
import GatehouseTesting
import Migrations
import Postgres
import Testing

@testable import GatehouseServer

/// `gatehouse distribute`; most tests need a Citus cluster, which `GATEHOUSE_TEST_DATABASE` names.
@Suite(.serialized) struct DistributeCommandTests {
    private typealias Run = ([String]) async throws -> GatehouseProcess.Outcome

    /// Runs the body with a migrated database that is not distributed.
    private func withDatabase(
        migrations: [Migration] = Migrations.all, _ body: (_ database: Database, _ run: Run) async throws -> Void
    ) async throws {
        try await TemporaryPostgres.withDatabase { url in
            let database = Database(.init(url: url), logger: TestServer.silence)
            database.start()
            try await attempt {
                _ = try await Migrator(database: database, migrations: migrations).migrate()
                try await ProcessDirectory.with { directory in
                    try await body(database) { arguments in
                        try await ServerFile(database: url).run(["distribute"] + arguments, in: directory)
                    }
                }
            } finally: {
                await database.stop()
            }
        }
    }

    private func count(_ sql: StaticString, on database: Database) async throws -> Int {
        var row = try #require(try await database.first(Statement(.read, sql)))
        return try row.next()
    }

    @Test(.needsOneNode) func `a database without Citus is refused`() async throws {
        try await withDatabase { _, run in
            for arguments in [[], ["--dry-run"]] {
                let outcome = try await run(arguments)
                #expect(outcome.status == 1)
                #expect(outcome.errorLines == ["gatehouse: distribution: the database has no extension citus"])
            }
        }
    }

    @Test(.needsCitus) func `a filled database is distributed`() async throws {
        try await withDatabase { database, run in
            try await database.transaction { try await $0.script(Self.rows) }
            let plan = try await run(["--dry-run"])
            #expect(plan.status == 0, "\(plan.errorLines)")
            let planned = plan.output.split(separator: "\n").filter { $0.hasPrefix("SELECT ") }
            #expect(planned.count > 20)
            #expect(plan.output.hasPrefix("SET \(Distribution.setting);\n"))
            #expect(plan.output.hasSuffix("nothing was changed\n"))
            #expect(try await count(Self.distributedTables, on: database) == 0)

            let first = try await run([])
            #expect(first.status == 0, "\(first.errorLines)")
            #expect(first.output.hasSuffix("the tables are distributed now\n"))
            #expect(try await count(Self.undistributedTables, on: database) == 0)
            #expect(try await count(Self.joinedSessions, on: database) == 3)
            #expect(try await count("SELECT count(*) FROM audit_events", on: database) == 1)
            #expect(try await count(Self.localBytes, on: database) == 0)

            let again = try await run([])
            #expect(again.status == 0, "\(again.errorLines)")
            #expect(again.output == "the tables are distributed\n")
        }
    }

    @Test(.needsCitus) func `an interrupted run is continued`() async throws {
        try await withDatabase { database, run in
            try await database.transaction {
                try await $0.script(
                    """
                    SET LOCAL \(Distribution.setting);
                    SELECT create_reference_table('applications');
                    SELECT create_distributed_table('accounts', 'application_id');
                    """)
            }
            let outcome = try await run([])
            #expect(outcome.status == 0, "\(outcome.errorLines)")
            #expect(!outcome.output.contains("create_reference_table"))
            #expect(try await count(Self.undistributedTables, on: database) == 0)
        }
    }

    @Test(.needsCitus) func `tables of a later migration are distributed by the next run`() async throws {
        let later = Migration(
            version: 9999, name: "later",
            sql: """
                ALTER TABLE accounts ADD COLUMN later int NOT NULL DEFAULT 0;
                CREATE INDEX accounts_later ON accounts (application_id, later) WHERE later > 0;
                UPDATE accounts SET later = 1 WHERE locale = 'fr';
                CREATE TABLE later (
                    application_id int NOT NULL,
                    uid uuid NOT NULL,
                    PRIMARY KEY (application_id, uid),
                    FOREIGN KEY (application_id, uid) REFERENCES accounts (application_id, uid) ON DELETE CASCADE
                );
                CREATE FUNCTION later_of(application int) RETURNS bigint LANGUAGE sql STABLE
                    RETURN (SELECT count(*) FROM later WHERE application_id = application);
                """)
        try await withDatabase { database, run in
            try #require(await run([]).status == 0)
            _ = try await Migrator(database: database, migrations: Migrations.all + [later]).migrate()
            let outcome = try await run([])
            #expect(outcome.output.contains("create_distributed_table('later'"), "\(outcome.errorLines)")
            #expect(outcome.output.contains("create_distributed_function('later_of(integer)')"))
            #expect(try await count(Self.undistributedTables, on: database) == 0)
        }
    }

    /// Version 18 is the newest that distributed databases do not migrate through.
    @Test(.needsCitus) func `a distributed database is migrated`() async throws {
        try await withDatabase(migrations: Migrations.all.filter { $0.version <= 18 }) { database, run in
            try await Distribution(database: database).run()
            _ = try await Migrator(database: database, migrations: Migrations.all).migrate()
            let outcome = try await run([])
            #expect(outcome.status == 0, "\(outcome.errorLines)")
            #expect(try await count(Self.undistributedTables, on: database) == 0)
        }
    }

    @Test(.needsCitus) func `settings with which the server fails are named`() async throws {
        try await withDatabase { database, run in
            try await database.transaction { try await $0.script(Self.badSettings) }
            let outcome = try await run(["--dry-run"])
            #expect(outcome.status == 1)
            #expect(outcome.errorLines.joined().contains("the coordinator: set jit to off"))
            #expect(outcome.errorLines.joined().contains("the coordinator: set citus.task_assignment_policy"))
        }
    }

    /// Two applications, three accounts with a session each, and an audit event.
    private static let rows = """
        INSERT INTO applications (name) VALUES ('demo'), ('photos');
        WITH made AS (
            INSERT INTO accounts (application_id, uid, audit_key)
            SELECT a.id, gen_random_uuid(), sha256('key') FROM applications a, generate_series(1, a.id) RETURNING *
        )
        INSERT INTO sessions (application_id, id, uid, identity_id, methods, expires_at)
        SELECT application_id, gen_random_uuid(), uid, gen_random_uuid(), '{}', now() + interval '1 day' FROM made;
        INSERT INTO audit_events (application_id, event) VALUES (1, 'test');
        """
    private static let badSettings = """
        DO $$ BEGIN
            EXECUTE format('ALTER DATABASE %I SET jit = on', current_database());
            EXECUTE format(
                'ALTER DATABASE %I SET citus.task_assignment_policy = %L', current_database(), 'round-robin');
        END $$
        """
    private static let joinedSessions: StaticString =
        "SELECT count(*) FROM accounts a JOIN sessions s ON s.application_id = a.application_id AND s.uid = a.uid"
    private static let distributedTables: StaticString =
        "SELECT count(*) FROM pg_dist_partition WHERE partmethod = 'h'"
    private static let undistributedTables: StaticString = """
        SELECT count(*) FROM pg_class c
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
           AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'application_id')
           AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid AND d.partmethod = 'h')
        """
    private static let localBytes: StaticString =
        "SELECT sum(pg_relation_size(logicalrelid))::bigint FROM pg_dist_partition WHERE partmethod = 'h'"
}
