import Accounts
import Administration
import Foundation
import GatehouseTesting
import Migrations
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse config diff`, beside a server on the same database.
struct ConfigurationDifferenceTests {
    @Test func `a change of mode is printed with its counts, and fails if it strands more than allowed`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { server in
            let client = APIClient(server)
            for _ in 0..<3 { _ = try await client.register(at: server) }
            try await eventually("the modes are recorded") {
                try await server.count("SELECT count(*) FROM provider_modes") == 2
            }
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                func difference(_ more: String...) async throws -> (status: Int32, output: String, errors: [String]) {
                    let outcome = try await file.run(["config", "diff"] + more, in: directory)
                    return (outcome.status, outcome.output, outcome.errorLines)
                }
                let none = try await difference()
                #expect(none.status == 0 && none.output.contains("no mode"), "\(none.errors)")

                file.emailMode = "existing"
                let existing = try await difference()
                #expect(existing.status == 0, "\(existing.errors)")
                #expect(existing.output.hasPrefix("demo/email open -> existing: "))
                #expect(existing.output.contains("accounts 3, stranded 0"))

                file.emailMode = "off"
                let off = try await difference()
                #expect(off.status == 1 && off.output.contains("accounts 3, stranded 3"), "\(off.output)")
                #expect(off.errors.first?.contains("3 account(s) could not sign in any more") == true)
                #expect(try await difference("--allow-stranded", "2").status == 1)
                #expect(try await difference("--allow-stranded", "3").status == 0)
            }
            #expect(try await server.text("SELECT mode FROM provider_modes WHERE provider = 'email'") == "open")
        }
    }

    /// It may have been removed long ago, so that it must not fail the command for ever.
    @Test func `an application that the file leaves out is listed, and does not count`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, others: TestServer.photos) { server in
            try await eventually("the modes are recorded") {
                try await server.count(
                    "SELECT count(DISTINCT application_id) FROM provider_modes") == 2
            }
            try await ProcessDirectory.with { directory in
                let outcome = try await ServerFile(database: database).run(["config", "diff"], in: directory)
                let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("photos/") }
                #expect(!lines.isEmpty, "\(outcome.output) \(outcome.errorLines)")
                for line in lines { #expect(line.contains(" -> off: ") && line.hasSuffix("; the file has no photos")) }
                #expect(outcome.status == 0 && outcome.output.contains("no mode of a provider changes"))
            }
        }
    }

    @Test func `an application that only the new file has gets no number`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { server in
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                file.others = TestServer.photos + "\n    openid: {}"
                let outcome = try await file.run(["config", "diff"], in: directory)
                #expect(outcome.status == 0, "\(outcome.errorLines)")
            }
            #expect(try await server.text("SELECT string_agg(name, ' ') FROM applications") == "demo")
        }
    }

    @Test func `two changes together are counted together, and a provider that is removed is off`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, providers: "scripted: {}") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            _ = try await client.link(.somebody("ada"), bearer: person.accessToken)
            try await eventually("the modes are recorded") {
                try await server.count("SELECT count(*) FROM provider_modes") == 3
            }
            let parsed = try Configuration.parse(
                TestServer.yaml(email: "mode: off"), file: "test.yaml", environment: ["DATABASE_URL": database],
                installed: TestServer.providers)
            let demo = try await server.application()
            let changed = try #require(parsed.application(named: "demo")).application(id: demo.id)
            let changes = try await ProviderModes(store: server.backend.store)
                .changes(in: changed, types: TestServer.providers.kinds)
            #expect(changes.map(\.change.provider) == ["email", "scripted"])
            #expect(changes.map(\.change.to) == [.off, .off])
            // Only both together leave no way in.
            #expect(changes.map(\.effect.stranded) == [0, 1])
        }
    }
}
