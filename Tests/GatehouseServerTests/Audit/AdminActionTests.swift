import Accounts
import Foundation
import GatehouseTesting
import Migrations
import ProviderKit
import Testing

@testable import GatehouseServer

/// Each command of an administrator causes one audit event.
struct AdminActionTests {
    /// A command in which `UID` stands for the account's uid, with the event that it causes and whether the event names
    /// the account.
    struct Action: Sendable, CustomTestStringConvertible {
        let command: [String]
        let event: String
        var details: JSONValue = [:]
        var isOfAccount = true
        /// Commands that must run before.
        var before: [[String]] = []

        var testDescription: String { command.joined(separator: " ") }

        /// Every event of an act names the host of the command.
        private static let host: JSONValue = ["cli": .string(ProcessInfo.processInfo.hostName)]

        static let all = [
            Action(command: ["account", "disable", "UID"], event: "account.disabled", details: ["actor": host]),
            Action(
                command: ["account", "enable", "UID"], event: "account.enabled", details: ["actor": host],
                before: [["account", "disable", "UID"]]),
            Action(
                command: ["account", "require-password-change", "UID"], event: "password.change-required",
                details: ["actor": host]),
            Action(
                command: ["account", "access", "UID", "--roles", "editor", "--end-sessions"],
                event: "account.access-changed",
                details: ["actor": host, "changed": ["roles"]]),
            Action(
                command: ["account", "delete", "UID"], event: "account.deleted",
                details: ["actor": host, "by": "admin"]),
            Action(
                command: ["account", "export", "UID"], event: "account.exported",
                details: ["actor": host, "by": "admin"]),
            Action(command: ["keys", "rotate"], event: "keys.rotated", details: ["actor": host], isOfAccount: false),
            Action(
                command: ["audit", "export"], event: "audit.exported", details: ["actor": host], isOfAccount: false),
            Action(
                command: ["purge"], event: "purge.run", details: ["actor": host, "now": false], isOfAccount: false),
            Action(
                command: ["purge", "--now", "UID"], event: "purge.run",
                details: ["actor": host, "now": true],
                before: [["account", "delete", "UID"]]),
        ]
        /// Commands that cause no event, because they change nothing and reveal nothing about a person's activities.
        static let silent = [
            ["account", "show", "UID"], ["account", "access", "UID"], ["audit", "verify"],
            ["purge", "--dry-run"], ["config", "check"], ["privacy-record"], ["migrate"],
        ]
    }

    private func with(
        _ body:
            @Sendable @escaping (TestServer, Person, [UInt8], _ run: ([String]) async throws -> Int32) async throws
            -> Void
    ) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { server in
            let person = try await APIClient(server).register(at: server)
            let pseudonym = try await server.pseudonym(of: person.uid)
            try await ProcessDirectory.with { directory in
                try await body(server, person, pseudonym) { command in
                    let outcome = try await ServerFile(database: database).run(
                        command.map { $0 == "UID" ? person.uid : $0 }, in: directory)
                    #expect(outcome.status == 0, "\(command): \(outcome.errorLines)")
                    return outcome.status
                }
            }
        }
    }

    @Test(arguments: Action.all)
    func `one event for`(action: Action) async throws {
        try await with { server, _, pseudonym, run in
            for command in action.before { _ = try await run(command) }
            let all = try await server.audited { _ = try await run(action.command) }
            let expected = TestServer.Audited(
                event: action.event, details: action.details, account: action.isOfAccount ? pseudonym : nil)
            #expect(all.filter { $0.event != "session.ended" } == [expected])
        }
    }

    @Test func `none for what only looks`() async throws {
        try await with { server, _, _, run in
            let all = try await server.audited {
                for command in Action.silent { _ = try await run(command) }
            }
            #expect(all == [])
        }
    }

    @Test func `a refused purge changes nothing`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { server in
            let person = try await APIClient(server).register(at: server)
            try await ProcessDirectory.with { directory in
                let all = try await server.audited {
                    let outcome = try await ServerFile(database: database).run(
                        ["purge", "--now", person.uid], in: directory)
                    #expect(outcome.status == 1)
                }
                #expect(all == [])
            }
        }
    }
}
