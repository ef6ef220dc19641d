import Foundation
import GatehouseTesting
import HTTPAPI
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse serve` from start to shutdown.
@Suite struct ServeTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalLetsASlowLoginFinish(signal: Int32) async throws {
        var file = ServerFile(database: try await TemporaryPostgres.database())
        file.passwords = "argon2: { memoryKiB: 65536, iterations: 6, parallelism: 1 }"
        try await ProcessDirectory.with { directory in
            try await file.serve(in: directory) { process, client in
                // An unknown address takes as long as a known one.
                async let login = client.login(APIClient.newAddress())
                try await eventually("a password is being hashed") {
                    try await client.send(.GET, "/metrics").text.contains("hashing_running 1")
                }
                process.signal(signal)
                let clock = ContinuousClock()
                let start = clock.now
                #expect(try await login.status == 401)
                print("a login in flight was answered \((clock.now - start).milliseconds) ms after the signal")
                #expect(try await process.end() == 0)
                let lines = try process.errorLines.map { try LogLine($0) }
                #expect(lines.last?.message == "stopped")
                let incomplete = lines.first { $0.message == "configuration is incomplete" }
                #expect(incomplete?.metadata?["problem"]?.contains("add it with `from` and `smtp`") == true)
                #expect(lines.filter { !["info", "notice"].contains($0.level) }.map(\.message) == [])
            }
        }
    }

    @Test func serveMigratesAnEmptyDatabase() async throws {
        let file = ServerFile(database: try await TemporaryPostgres.database())
        try await ProcessDirectory.with { directory in
            try await file.serve(in: directory) { process, client in
                let health = try await client.send(.GET, "/health/ready")
                #expect(health.status == 200)
                #expect(try await client.post("/auth/anonymous").status == 200)
                #expect(try await client.send(.GET, "/dev/inbox").status == 404)
                #expect(try await process.end(by: SIGTERM) == 0)
            }
        }
    }

    @Test func aHangUpIsIgnored() async throws {
        let file = ServerFile(database: try await TemporaryPostgres.database())
        try await ProcessDirectory.with { directory in
            try await file.serve(in: directory) { process, client in
                process.signal(SIGHUP)
                let health = try await client.send(.GET, "/health/ready")
                #expect(health.status == 200)
                #expect(try await process.end(by: SIGTERM) == 0)
            }
        }
    }

    @Test func theBudgetOfTextsIsLogged() async throws {
        var file = ServerFile(database: try await TemporaryPostgres.database())
        file.delivery = "delivery: { sms: { url: 'http://127.0.0.1:9/sms' } }"
        try await ProcessDirectory.with { directory in
            try await file.serve(in: directory) { process, _ in
                try await eventually("the budget is logged") { process.errors.contains("delivery.sms.budget") }
                let line = try #require(process.errorLines.first { $0.contains("delivery.sms.budget") })
                let metadata = try LogLine(line).metadata
                #expect(metadata?["total"] == "1000 in 86400 s" && metadata?["perPrefix"] == "300 in 3600 s")
            }
        }
    }

    @Test func migrateIsRepeatable() async throws {
        let file = ServerFile(database: try await TemporaryPostgres.database())
        try await ProcessDirectory.with { directory in
            let early = try await file.run(["keys", "rotate"], in: directory)
            #expect(early.status == 1)
            #expect(early.errorLines.count == 1, "\(early.errorLines)")
            #expect(early.errorLines.first?.contains("gatehouse migrate") == true)
            let first = try await file.run(["migrate"], in: directory)
            let second = try await file.run(["migrate"], in: directory)
            #expect((first.status, second.status) == (0, 0))
            #expect(first.errorLines + second.errorLines == [])
            #expect(first.output.contains("applied 1 foundation"), "\(first.output)")
            #expect(second.output == "the schema is up to date\n")
        }
    }

    @Test func aGoodConfigurationIsFine() async throws {
        try await ProcessDirectory.with { directory in
            var file = ServerFile(database: "postgresql:///none")
            file.delivery = "delivery: { email: { from: 'no-reply@demo.example', smtp: 'smtp://127.0.0.1:9' } }"
            let outcome = try await file.run(["config", "check"], in: directory)
            #expect(outcome.status == 0)
            #expect(outcome.output == "gatehouse.yaml is fine: 1 application(s): demo\n")
            #expect(outcome.errorLines == [])
            file.delivery = ""
            let incomplete = try await file.run(["config", "check"], in: directory)
            let lines = incomplete.output.split(separator: "\n")
            #expect(incomplete.status == 0 && lines.count == 2 && lines[1].contains("is fine"))
            #expect(lines[0].hasPrefix("warning: gatehouse.yaml:") && lines[0].contains("providers.email"), "\(lines)")
        }
    }

    @Test func theVersionIsThatOfTheDocumentAndTheSchema() async throws {
        try await ProcessDirectory.with { directory in
            let outcome = try await GatehouseProcess.run(["--version"], in: directory)
            let schema = try #require(Migrations.all.last?.version)
            #expect(outcome.status == 0 && outcome.output == "\(HTTPAPI.version) (schema \(schema))\n")
            #expect(outcome.errorLines == [])
        }
        let document = try await TestServer.with { try await APIClient($0).send(.GET, "/openapi.json") }
        #expect(document["info"]["version"].string == HTTPAPI.version)
    }

    @Test(arguments: [[], ["--help"], ["help"], ["serve", "--help"], ["account", "show", "-h"], ["keys"]])
    func helpIsNoError(arguments: [String]) async throws {
        try await ProcessDirectory.with { directory in
            let outcome = try await GatehouseProcess.run(arguments, in: directory)
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("USAGE: gatehouse"))
            #expect(outcome.errorLines == [])
        }
    }

    @Test(arguments: [
        ["sing"], ["serve", "--loud"], ["account", "sing"], ["account", "show"], ["account", "show", "me"],
        ["serve", "--config"],
    ])
    func whatIsNoCommandIsOneLine(arguments: [String]) async throws {
        try await ProcessDirectory.with { directory in
            let outcome = try await GatehouseProcess.run(arguments, in: directory)
            #expect(outcome.status == 1)
            #expect(outcome.output == "")
            #expect(outcome.errorLines.count == 1, "\(outcome.errorLines)")
        }
    }
}
