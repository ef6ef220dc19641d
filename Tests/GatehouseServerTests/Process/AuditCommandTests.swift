import Accounts
import Foundation
import GatehouseTesting
import Migrations
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse audit` beside a running server on the same database.
@Suite struct AuditCommandTests {
    private func withAuditedServer(
        _ body: @Sendable @escaping (TestServer, ServerFile, ProcessDirectory) async throws -> Void
    ) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        let log = CollectedLog()
        try await TestServer.with(database: database, logger: log.logger) { server in
            _ = try await APIClient(server).register(at: server)
            try await server.awaitSealed()
            let checkpoint = try #require(try await server.verify().last)
            try await eventually("the checkpoint is logged") {
                log.lines.contains { $0.hasPrefix("info The audit is sealed") && $0.contains("\(checkpoint)") }
            }
            try await ProcessDirectory.with { directory in
                try await body(server, ServerFile(database: database), directory)
            }
        }
    }

    @Test func verificationIsOneLineEitherWay() async throws {
        try await withAuditedServer { server, file, directory in
            let report = try await server.verify()
            let checkpoint = try #require(report.last)
            let intact = try await file.run(["audit", "verify", "--checkpoint", "\(checkpoint)"], in: directory)
            #expect(intact.status == 0, "\(intact.errorLines)")
            #expect(
                intact.output == """
                    the audit is intact: \(report.events) events in \(report.batches) batches, up to checkpoint \
                    \(checkpoint); events not sealed yet: 0

                    """)
            try await server.execute("DELETE FROM audit_events WHERE batch = 1")
            let broken = try await file.run(["audit", "verify"], in: directory)
            #expect(broken.status == 1 && broken.output == "")
            #expect(broken.errorLines == ["gatehouse: the audit is not what was sealed: batch 1 lacks an event"])
            let malformed = try await file.run(["audit", "verify", "--checkpoint", "12"], in: directory)
            #expect(malformed.status == 1)
        }
    }

    @Test func eventsAreExportedAsLines() async throws {
        try await withAuditedServer { server, file, directory in
            let before = try await server.audited()
            let exported = try await file.run(["audit", "export"], in: directory)
            #expect(exported.status == 0, "\(exported.errorLines)")
            let lines = try exported.output.split(separator: "\n").map {
                try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
            }
            #expect(lines.map { $0["event"].string } == before.map(\.event) + ["audit.exported"])
            #expect(lines.allSatisfy { $0["application"] == "demo" && $0["at"].string != nil })

            let none = try await file.run(["audit", "export", "--since", "9000-01-01T00:00:00Z"], in: directory)
            #expect((none.status, none.output) == (0, ""))
            let unknown = try await file.run(["audit", "export", "--application", "nope"], in: directory)
            #expect(unknown.status == 1)
            #expect(unknown.errorLines == ["gatehouse: there is no application nope in the configuration"])
        }
    }

    @Test func pagesJoinWithoutGapsOrRepeats() async throws {
        try await withAuditedServer { server, file, directory in
            try await server.execute(
                "INSERT INTO audit_events (application_id, event) SELECT 1, 'n' || n FROM generate_series(1, 2500) n")
            let exported = try await file.run(["audit", "export", "--application", "demo"], in: directory)
            let names = exported.output.split(separator: "\n").filter { $0.contains("\"event\":\"n") }
            #expect(names.count == 2500 && Set(names).count == 2500)
        }
    }

    @Test func rotatedKeysAreAudited() async throws {
        try await withAuditedServer { server, file, directory in
            let outcome = try await file.run(["keys", "rotate"], in: directory)
            #expect(outcome.status == 0)
            let last = try await server.audited().last
            #expect(last?.event == "keys.rotated")
        }
    }
}
