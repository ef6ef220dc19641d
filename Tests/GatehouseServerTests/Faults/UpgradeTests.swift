import Foundation
import GatehouseTesting
import Glibc
import Migrations
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Schemas change while servers and other programs use the database.
@Suite(.serialized, .longMode) struct UpgradeTests {
    /// What a later version could add, to the tables that are used most.
    private static let next = Migration(
        version: 9999, name: "next",
        sql: """
            ALTER TABLE accounts ADD COLUMN next_note text;
            ALTER TABLE sessions ADD COLUMN next_number int NOT NULL DEFAULT 0;
            ALTER TABLE refresh_tokens ADD COLUMN next_number int;
            CREATE INDEX sessions_next ON sessions (next_number) WHERE next_number > 0;
            CREATE TABLE next_rows (application_id int PRIMARY KEY);
            """)

    @Test func `servers keep serving while a later version migrates`() async throws {
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await FaultServers.with(database: url) { servers in
            let load = servers.load()
            try await load.run {
                let database = Database(.init(url: url), logger: TestServer.silence)
                database.start()
                let applied = try await Migrator(database: database, migrations: Migrations.all + [Self.next]).migrate()
                await database.stop()
                #expect(applied == [Self.next])
            }
            try await servers.verify(load.journal.entries)
        }
    }

    /// The program of the previous version.
    private static let previous = ProcessInfo.processInfo.environment["GATEHOUSE_PREVIOUS"]

    @Test(
        .enabled(
            if: previous != nil || NeededProgram.isStrict,
            "GATEHOUSE_PREVIOUS names no program of the previous version"))
    func `servers are replaced one by one after the new migrations were applied under load`() async throws {
        let program = try #require(Self.previous)
        let url = try await TemporaryPostgres.database(migrations: [])
        try await FaultServers.with(database: url, program: program) { servers in
            // Clients of a server that ends get no response.
            let load = servers.load(excusing: .silence)
            try await load.run {
                let migrated = try await GatehouseProcess.run(
                    ["migrate", "--config", "first.yaml"], in: servers.directory)
                let last = try #require(Migrations.all.last)
                #expect(migrated.output.contains("applied \(last.version)"), "\(migrated.errorLines)")
                try await load.awaitProgress()
                #expect(load.journal.entries.unanswered == 0)
                for replica in [servers.second, servers.first] {
                    try await replica.end(by: SIGTERM)
                    try await replica.start()
                    try await load.awaitProgress()
                }
            }
            try await servers.verify(load.journal.entries)
        }
    }

    /// Each transaction locks every table as a writer does and holds the locks for 50 ms.
    private static let useEverything = """
        DO $$
        DECLARE name text;
        BEGIN
            FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY random() LOOP
                EXECUTE format('LOCK TABLE %I IN ROW EXCLUSIVE MODE', name);
            END LOOP;
            PERFORM pg_sleep(0.05);
        END
        $$
        """

    @Test func `two servers that start together migrate a database in use from the previous schema`() async throws {
        let url = try await TemporaryPostgres.database(migrations: Array(Migrations.all.dropLast()))
        let users = (1...4).map { _ in
            Task {
                var slowest: Duration = .zero
                while !Task.isCancelled {
                    let start = ContinuousClock.now
                    do {
                        try await onOwnThread { try Database.runAlone(Self.useEverything, url: url) }
                    } catch let error as PostgresError where error.isRetryable {}
                    slowest = max(slowest, ContinuousClock.now - start)
                }
                return slowest
            }
        }
        defer { users.forEach { $0.cancel() } }
        try await FaultServers.with(database: url) { servers in
            var slowest: Duration = .zero
            for user in users {
                user.cancel()
                slowest = max(slowest, try await user.value)
            }
            print("the slowest transaction during the migration took \(slowest.milliseconds) ms")
            // A migration gives up its wait for a lock after three seconds, and so lets the others go on.
            #expect(slowest < .seconds(20))
            let load = servers.load()
            try await load.run {}
            try await servers.verify(load.journal.entries)
        }
    }
}
