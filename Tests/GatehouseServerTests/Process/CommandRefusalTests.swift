import Foundation
import GatehouseTesting
import Migrations
import Testing

@testable import GatehouseServer

/// A command that fails prints the reason in one line on standard error and exits with 1.
struct CommandRefusalTests {
    private static let uid = "01930000-0000-7000-8000-000000000001"

    /// Every command that uses the database.
    static let commands: [[String]] =
        ["show", "disable", "enable", "require-password-change", "access", "delete", "export"].map {
            ["account", $0, uid]
        } + [
            ["purge"], ["purge", "--now", uid], ["purge", "--dry-run"], ["audit", "verify"], ["audit", "export"],
            ["keys", "rotate"], ["client", "list"], ["client", "show", "reg~x"], ["client", "delete", "reg~x"],
            ["openid", "statement", "CSI"], ["migrate"], ["distribute"],
            ["explain", "--provider", "email", "--evidence", "evidence.json"], ["serve"],
        ]

    private func expectOneLine(
        _ outcome: GatehouseProcess.Outcome, containing words: String = "gatehouse: ", _ command: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.status == 1, "\(command)", sourceLocation: sourceLocation)
        #expect(outcome.output == "", "\(command)", sourceLocation: sourceLocation)
        let lines = outcome.errorLines
        #expect(
            lines.count == 1 && lines[0].hasPrefix("gatehouse: ") && lines[0].contains(words),
            "\(command): \(lines)", sourceLocation: sourceLocation)
    }

    private func run(
        _ command: [String], _ file: ServerFile, in directory: ProcessDirectory
    ) async throws -> GatehouseProcess.Outcome {
        try directory.write(#"{ "providerUid": "ada@example.com" }"#, to: "evidence.json")
        return try await file.run(command, in: directory)
    }

    /// Each command waits some seconds for the database, so all of them run at once.
    @Test func `a database that is down`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for command in Self.commands {
                group.addTask {
                    try await ProcessDirectory.with { directory in
                        let file = ServerFile(database: "postgresql://gatehouse@127.0.0.1:1/gatehouse")
                        expectOneLine(
                            try await run(command, file, in: directory),
                            containing: "the database cannot be reached", command)
                        #expect(directory.processes() == [], "\(command)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: commands) func `a configuration with a fault`(command: [String]) async throws {
        try await ProcessDirectory.with { directory in
            var file = ServerFile(database: "postgresql://gatehouse@127.0.0.1:1/gatehouse")
            file.passwords = "argon3: {}"
            expectOneLine(try await run(command, file, in: directory), containing: "argon3", command)
        }
    }

    @Test func `a schema that is not this version's, and a wrong master key`() async throws {
        let empty = try await TemporaryPostgres.database()
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { _ in }
        try await ProcessDirectory.with { directory in
            for command in Self.commands where !["serve", "migrate"].contains(command[0]) {
                let refused = try await run(command, ServerFile(database: empty), in: directory)
                expectOneLine(refused, containing: "gatehouse migrate", command)
                guard command != ["distribute"] else { continue }
                var file = ServerFile(database: database)
                file.masterKey = Data(repeating: 7, count: 32).base64EncodedString()
                expectOneLine(try await run(command, file, in: directory), containing: "key", command)
            }
        }
    }

    @Test(arguments: [
        ["account", "show", "x"], ["account", "show"], ["account", "erase", uid], ["purge", "--now", "x"],
        ["purge", "--then"], ["audit", "verify", "--checkpoint", "x"], ["audit", "export", "--since", "noon"],
        ["nothing"],
        ["explain"], ["account", "show", uid, "--application", "nope"],
        ["purge", "--application", "nope"], ["audit", "export", "--application", "nope"],
    ])
    func `an argument that is missing, unknown or wrong`(command: [String]) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await ProcessDirectory.with { directory in
            expectOneLine(
                try await run(command, ServerFile(database: database), in: directory), command)
        }
    }

    @Test func `an output that cannot be written`() async throws {
        try await ProcessDirectory.with { directory in
            let line = "'\(GatehouseProcess.executable)' --help > /dev/full"
            let outcome = try await GatehouseProcess.run(["-c", line], program: "/bin/sh", in: directory)
            expectOneLine(outcome, containing: "could not be written", ["--help"])
        }
    }
}
