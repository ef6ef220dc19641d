import Foundation
import GatehouseTesting
import Migrations
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse account` and `gatehouse keys` beside a running server on the same database.
@Suite struct AccountCommandTests {
    private func withServerAndCommands(
        _ body: @Sendable @escaping (TestServer, ServerFile, ProcessDirectory) async throws -> Void
    ) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { server in
            try await ProcessDirectory.with { directory in
                try await body(server, ServerFile(database: database), directory)
            }
        }
    }

    @Test func aDisabledAccountIsShutOutUntilItIsEnabled() async throws {
        try await withServerAndCommands { server, file, directory in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let disabled = try await file.run(["account", "disable", person.uid], in: directory)
            #expect((disabled.status, disabled.output) == (0, "disabled\n"), "\(disabled.errorLines)")
            let elapsed = try await eventually("the session has ended") {
                try await client.status(of: person.accessToken) == 401
            }
            #expect(elapsed < .seconds(3))
            #expect(try await client.refresh(person.refreshToken).code == "INVALID_REFRESH_TOKEN")
            #expect(try await client.login(person.email).code == "ACCOUNT_DISABLED")
            #expect(try await client.login(person.email, "wrong").code == "INVALID_CREDENTIALS")
            #expect(try await shown(person.uid, file, directory)["status"] == "disabled")

            let enabled = try await file.run(["account", "enable", person.uid], in: directory)
            #expect((enabled.status, enabled.output) == (0, "enabled\n"))
            #expect(try await client.login(person.email).status == 200)
            #expect(try await client.status(of: person.accessToken) == 401)
        }
    }

    @Test func anAccountIsShownWithoutItsSecrets() async throws {
        try await withServerAndCommands { server, file, directory in
            let person = try await APIClient(server).register(at: server)
            let account = try await shown(person.uid, file, directory)
            #expect(account["uid"].string == person.uid)
            #expect(account["application"] == "demo")
            #expect(account["status"] == "live")
            #expect(account["email"].string == person.email)
            #expect(account["liveSessions"].integer == 1)
            #expect(account["identities"].array?.first?["provider"] == "email")
            let text = try await file.run(["account", "show", person.uid], in: directory).output
            #expect(!text.contains("argon2"))
        }
    }

    @Test func aNewPasswordIsAskedFor() async throws {
        try await withServerAndCommands { server, file, directory in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            #expect(try await client.login(person.email)["shouldChangePassword"] != true)
            let outcome = try await file.run(["account", "require-password-change", person.uid], in: directory)
            #expect(outcome.status == 0)
            #expect(try await client.login(person.email)["shouldChangePassword"] == true)

            let guest = try await client.guest()
            let refused = try await file.run(["account", "require-password-change", guest.uid], in: directory)
            #expect(refused.status == 1)
            #expect(refused.errorLines == ["gatehouse: account \(guest.uid) has no password"])
        }
    }

    @Test func `roles and claims are set, shown and refused`() async throws {
        try await withServerAndCommands { server, file, directory in
            var file = file
            file.application = "roles: [editor, moderator]"
            let client = APIClient(server)
            let person = try await client.register(at: server)
            func access(_ options: String...) async throws -> GatehouseProcess.Outcome {
                try await file.run(["account", "access", person.uid] + options, in: directory)
            }
            let none = try await access()
            #expect((none.status, none.output) == (0, "{\"claims\":{},\"roles\":[]}\n"), "\(none.errorLines)")
            let set = try await access(
                "--application", "demo", "--roles", "moderator,editor", "--claims", #"{"plan":"pro/1"}"#)
            let shown = #"{"claims":{"plan":"pro/1"},"roles":["editor","moderator"]}"#
            #expect((set.status, set.output) == (0, shown + "\n"), "\(set.errorLines)")
            #expect(try await access().output == shown + "\n")
            let account = try await self.shown(person.uid, file, directory)
            #expect(account["roles"] == ["editor", "moderator"] && account["claims"] == ["plan": "pro/1"])
            let token = try await client.refresh(person.refreshToken).accessClaims()
            #expect(token["roles"] == ["editor", "moderator"] && token["claims"] == ["plan": "pro/1"])

            let refused: [([String], String)] = [
                (["--roles", "editor,admin"], "--roles has a name that is none of the application's roles"),
                (["--roles", "editor,"], "--roles has a name that is not"),
                (["--claims", "[1]"], "--claims is not a JSON object"),
                (["--claims", #"{"a":1,"a":2}"#], "--claims is not a JSON object"),
                (["--claims", #"{"a":[[[[1]]]]}"#], "--claims is nested more than 4 deep"),
            ]
            for (options, words) in refused {
                let outcome = try await file.run(["account", "access", person.uid] + options, in: directory)
                #expect(outcome.status == 1 && outcome.output.isEmpty, "\(options)")
                #expect(outcome.errorLines.count == 1 && outcome.errorLines[0].hasPrefix("gatehouse: \(words)"))
            }
            let ended = try await access("--roles", "", "--end-sessions")
            #expect((ended.status, ended.output) == (0, "{\"claims\":{\"plan\":\"pro/1\"},\"roles\":[]}\n"))
            try await eventually("the session has ended", within: .seconds(3)) {
                try await client.status(of: person.accessToken) == 401
            }
        }
    }

    @Test func aDeletedAccountIsInItsGracePeriod() async throws {
        try await withServerAndCommands { server, file, directory in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let outcome = try await file.run(["account", "delete", person.uid], in: directory)
            #expect(outcome.status == 0)
            try await eventually("the session has ended", within: .seconds(3)) {
                try await client.status(of: person.accessToken) == 401
            }
            #expect(try await client.login(person.email).code == "ACCOUNT_DELETED")
            let receipt = outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(try await client.get("/erasures/\(receipt)")["status"] == "scheduled")
            #expect(try await shown(person.uid, file, directory)["status"] == "deleted")
        }
    }

    @Test func everythingHeldIsExported() async throws {
        try await withServerAndCommands { server, file, directory in
            let person = try await APIClient(server).register(at: server)
            let outcome = try await file.run(["account", "export", person.uid], in: directory)
            #expect(outcome.status == 0, "\(outcome.errorLines)")
            let export = try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8))
            #expect(export["account"]["uid"].string == person.uid)
            #expect(export["addresses"].array?.map { $0["address"].string } == [person.email])
            let last = try await server.audited().last
            #expect(last?.details == ["actor": ["cli": .string(ProcessInfo.processInfo.hostName)], "by": "admin"])
        }
    }

    @Test(arguments: ["show", "disable", "enable", "require-password-change", "access", "delete", "export"])
    func nobodyIsOneLine(command: String) async throws {
        try await withServerAndCommands { _, file, directory in
            let uid = UUID().uuidString.lowercased()
            let outcome = try await file.run(["account", command, uid], in: directory)
            #expect(outcome.status == 1)
            #expect(outcome.output == "")
            #expect(outcome.errorLines == ["gatehouse: there is no account \(uid)"])
        }
    }

    @Test func rotatedKeysSignInARunningServer() async throws {
        try await withServerAndCommands { server, file, directory in
            let client = APIClient(server)
            let old = try await client.guest()
            let outcome = try await file.run(["keys", "rotate"], in: directory)
            #expect((outcome.status, outcome.output) == (0, "demo signs with a new key\n"))
            let oldKid = try SigningHeader(old.accessToken).kid
            var newKid = oldKid
            try await eventually("the server signs with the new key", within: .seconds(3)) {
                newKid = try SigningHeader(try await client.guest().accessToken).kid
                return newKid != oldKid
            }
            #expect(try await client.publishedKeys().isSuperset(of: [oldKid, newKid]))
            #expect(try await client.status(of: old.accessToken) == 200)
            let unknown = try await file.run(["keys", "rotate", "--application", "nope"], in: directory)
            #expect(unknown.status == 1)
            #expect(unknown.errorLines == ["gatehouse: there is no application nope in the configuration"])
        }
    }

    private func shown(_ uid: String, _ file: ServerFile, _ directory: ProcessDirectory) async throws -> JSONValue {
        let outcome = try await file.run(["account", "show", uid], in: directory)
        try #require(outcome.status == 0, "\(outcome.errorLines)")
        return try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8))
    }
}
