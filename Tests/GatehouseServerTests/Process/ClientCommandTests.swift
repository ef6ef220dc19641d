import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse client` and `gatehouse openid` beside a running server on the same database.
struct ClientCommandTests {
    private static let application = RelyingParty.software("confirm: false")
        .replacing("  software:", with: "  registration: { mode: open }\n  software:")

    private func withServerAndCommands(
        _ body: @Sendable @escaping (TestServer, ServerFile, ProcessDirectory) async throws -> Void
    ) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, application: Self.application) { server in
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                file.application = Self.application
                try await body(server, file, directory)
            }
        }
    }

    @Test func `registered clients are listed, shown and deleted`() async throws {
        try await withServerAndCommands { server, file, directory in
            let party = RelyingParty(server)
            let answer = try await party.register([
                "redirect_uris": ["https://rp.example/cb"], "client_name": "Ada's photos",
            ])
            let instance = try await party.registerInstance(["device_name": "Ada's phone"])
            let id = try #require(answer["client_id"].string)
            let listed = try await file.run(["client", "list"], in: directory)
            #expect(listed.status == 0, "\(listed.errorLines)")
            let lines = try listed.output.split(separator: "\n").map {
                try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
            }
            #expect(lines.map { $0["id"].string } == [id] && lines.first?["name"] == "Ada's photos")
            #expect(lines.first?["redirectURIs"] == ["https://rp.example/cb"])
            let shown = try await file.run(["client", "show", id, "--application", "demo"], in: directory)
            let client = try JSONDecoder().decode(JSONValue.self, from: Data(shown.output.utf8))
            #expect(client["id"].string == id && client["metadata"]["client_name"] == "Ada's photos", "\(shown.output)")
            for name in ["client_secret", "registration_access_token"] {
                #expect(!shown.output.contains(answer[name].string ?? "none"), "\(name)")
            }
            let phone = try await file.run(["client", "show", instance["client_id"].string ?? ""], in: directory)
            let described = try JSONDecoder().decode(JSONValue.self, from: Data(phone.output.utf8))
            #expect(described["software"] == "CSI" && described["deviceName"] == "Ada's phone", "\(phone.output)")
            for answer in [answer, instance] {
                let id = answer["client_id"].string ?? ""
                let deleted = try await file.run(["client", "delete", id], in: directory)
                #expect((deleted.status, deleted.output) == (0, "deleted\n"), "\(deleted.errorLines)")
                #expect(try await party.manage(.GET, answer).status == 401)
                for command in ["show", "delete"] {
                    let again = try await file.run(["client", command, id], in: directory)
                    #expect(again.status == 1 && again.errorLines == ["gatehouse: there is no registered client \(id)"])
                }
            }
            let events = try await server.audited().filter { $0.event == "client.deleted" }
            let host: JSONValue = ["cli": .string(ProcessInfo.processInfo.hostName)]
            let phoneID = instance["client_id"]
            #expect(
                events.map(\.details) == [
                    ["actor": host, "by": "admin", "client": .string(id)],
                    ["actor": host, "by": "admin", "client": phoneID, "software": "CSI"],
                ])
            let none = try await file.run(["client", "list"], in: directory)
            #expect((none.status, none.output) == (0, ""))
        }
    }

    @Test func `a deleted client's sessions end on a running server`() async throws {
        try await withServerAndCommands { server, file, directory in
            let ada = try await APIClient(server).register(at: server)
            let answer = try await RelyingParty(server).register(["redirect_uris": ["https://rp.example/cb"]])
            let client = try RelyingParty(server).registered(answer)
            try await client.consent(of: ada)
            let code = try await client.code(cookie: client.browser(of: ada))
            let tokens = try await client.redeem(code)
            let access = try #require(tokens["access_token"].string, "\(tokens.text)")
            #expect(try await client.userInfo(access).status == 200)
            #expect(try await file.run(["client", "delete", client.client], in: directory).status == 0)
            #expect(try await client.userInfo(access).isOAuthError(401, "invalid_token"))
            let sessions = try await server.count(
                "SELECT count(*) FROM sessions WHERE client_id LIKE 'reg~%' AND end_reason = 'clientRevoked'")
            #expect(sessions == 1)
        }
    }

    @Test func `a deleted installation's session ends on a running server, and the audit says why`() async throws {
        try await withServerAndCommands { server, file, directory in
            let ada = try await APIClient(server).register(at: server)
            let (app, registration) = try await RelyingParty(server).install()
            let access = try await app.bind(to: ada)["access_token"].string ?? ""
            #expect(try await app.userInfo(access).status == 200)
            #expect(try await file.run(["client", "delete", app.client], in: directory).status == 0)
            #expect(try await app.userInfo(access).isOAuthError(401, "invalid_token"))
            #expect(try await app.credentials("profile").isOAuthError(401, "invalid_client"))
            #expect(try await app.manage(.GET, registration).status == 401)
            let reasons = try await server.text(
                "SELECT string_agg(end_reason, ' ') FROM sessions WHERE client_id LIKE 'dyn~%'")
            let audited = try await server.text(
                "SELECT string_agg(details->>'reason', ' ') FROM audit_events WHERE event = 'session.ended'")
            #expect(reasons == "instanceDeleted" && audited == "instanceDeleted")
        }
    }

    @Test func `a statement is made from the configuration, and accepted once it is listed there`() async throws {
        try await withServerAndCommands { server, file, directory in
            var file = file
            // The shell has emptied the file into which the statement is written.
            try directory.write("", to: "csi.jwt")
            file.application = Self.application.replacing("[\"\(RelyingParty.statement)\"]", with: "[\"file:csi.jwt\"]")
            #expect(try await file.run(["client", "list"], in: directory).status == 1)
            let outcome = try await file.run(["openid", "statement", "CSI"], in: directory)
            #expect(outcome.status == 0, "\(outcome.errorLines)")
            let statement = outcome.output.trimmingCharacters(in: .newlines)
            let token = try DecodedToken(statement)
            #expect(token.claims["software_id"] == "CSI" && token.claims["software_version"] == "1")
            #expect(token.claims["redirect_uris"] == [.string(RelyingParty.appURI), "https://app.example/cb"])
            #expect(token.claims["scope"] == "openid profile native blitz_qr_auth")
            #expect(token.claims["iss"] == "http://127.0.0.1:1" && token.claims["sub"] == .null)
            let member: [String: JSONValue] = ["software_statement": .string(statement)]
            #expect(
                try await RelyingParty(server).registerInstance(member)
                    .isOAuthError(400, "unapproved_software_statement"))
            let listed = Self.application.replacing("[\"\(RelyingParty.statement)\"]", with: "[\"\(statement)\"]")
            try await TestServer.with(database: server.databaseURL, application: listed) { replica in
                let registered = try await RelyingParty(replica).registerInstance(member)
                #expect(registered.status == 201)
            }
            let unknown = try await file.run(["openid", "statement", "nothing"], in: directory)
            #expect(unknown.status == 1)
            #expect(unknown.errorLines == ["gatehouse: the application has no software nothing in the configuration"])
        }
    }

    @Test func `a statement of another application's software names its issuer and what it is configured with`()
        async throws
    {
        try await withServerAndCommands { server, file, directory in
            var file = file
            let software = RelyingParty.software().replacing("version: \"1\"", with: "version: \"7\"")
            file.others =
                TestServer.photos + "\n    " + software.replacing("\n", with: "\n    ")
            let arguments = ["openid", "statement", "CSI"]
            let issuers = ["demo": "http://127.0.0.1:1", "photos": "http://127.0.0.1:1/apps/photos"]
            for (application, version) in [(nil, "1"), ("demo", "1"), ("photos", "7")] as [(String?, String)] {
                let outcome = try await file.run(
                    arguments + (application.map { ["--application", $0] } ?? []), in: directory)
                #expect(outcome.status == 0, "\(outcome.errorLines)")
                let token = try DecodedToken(outcome.output.trimmingCharacters(in: .newlines))
                #expect(token.claims["software_version"].string == version, "\(token.claims)")
                #expect(token.claims["iss"].string == issuers[application ?? "demo"], "\(token.claims)")
            }
            let unknown = try await file.run(arguments + ["--application", "nothing"], in: directory)
            #expect(unknown.status == 1 && unknown.output.isEmpty && unknown.errorLines.count == 1)
        }
    }
}
