import Accounts
import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Starting a server whose erasure ledger does not match the database.
struct LedgerReplayTests {
    private struct Crash: Error {}

    private func withLedger(
        _ body: @Sendable @escaping (_ path: String, _ application: String) async throws -> Void
    ) async throws {
        try await ProcessDirectory.with { directory in
            let path = directory.url.appending(path: "ledger").path
            try await body(path, "deletion: { ledger: \"\(path)\" }")
        }
    }

    @Test func `an erasure that a crash interrupted is completed after a restart`() async throws {
        try await WebhookSink.with { sink in
            try await withLedger { path, application in
                let webhooks = "[\(sink.entry("account.deleted", "account.erased"))]"
                let database = try await TemporaryPostgres.database(migrations: Migrations.all)
                let (person, location) = try await TestServer.with(
                    database: database, application: application, webhooks: webhooks
                ) { server in
                    let client = APIClient(server)
                    let person = try await client.register(at: server)
                    let location = try await client.deleteAccount(person)
                    try await eventually("the deletion is acknowledged") {
                        try await client.erasure(location)["processors"].array?
                            .contains { $0["status"] == "acknowledged" } == true
                    }
                    _ = try await server.withoutScheduler {
                        await #expect(throws: Crash.self) {
                            _ = try await server.advance(person.uid, onStep: { if $0 == .written { throw Crash() } })
                        }
                    }
                    let lines = try String(contentsOfFile: path, encoding: .utf8)
                    #expect(lines.contains(person.uid))
                    return (person, location)
                }
                try await TestServer.with(database: database, application: application, webhooks: webhooks) { server in
                    let client = APIClient(server)
                    #expect(try await server.accounts(person.uid) == 0)
                    let erasure = try await client.erasure(location)
                    let certificate = try DecodedToken(erasure["certificate"].string ?? "")
                    #expect(certificate.claims["processors"].array?.map { $0["status"] } == ["acknowledged"])
                    try await eventually("it is told") { sink.posts(of: "account.erased").count == 1 }
                }
            }
        }
    }

    @Test func `a merge undone after the backup is neither erased nor restored`() async throws {
        for leaver in ["survivor", "absorbed"] {
            try await withLedger { path, application in
                let (backup, survivor, absorbed) = try await TestServer.with(
                    application: application, providers: "scripted: {}"
                ) { server in
                    let client = APIClient(server)
                    let person = try await client.newcomer("ada", email: "ada@example.com")
                    let eve = try await client.newcomer("eve", email: "eve@example.com")
                    let ticket = try await client.ticket(.somebody("eve"), bearer: person.accessToken)
                    let merged = try await client.merge(ticket, bearer: person.accessToken)
                    try #require(merged.status == 200, "\(merged.text)")
                    let backup = try await server.dump()
                    let survivor = try Person(merged, email: "", password: "")
                    let id = try #require(merged["merge"]["id"].string)
                    let undone = try await client.post("/auth/merges/\(id)/undo", bearer: survivor.accessToken)
                    try #require(undone.status == 204, "\(undone.text)")
                    let subject = leaver == "survivor" ? "ada" : "eve"
                    let leaving = try Person(try await client.present(.somebody(subject)), email: "", password: "")
                    try await client.deleteAccount(leaving)
                    #expect(try await server.erase(leaving.uid) == .erased(without: []))
                    return (backup, person, eve)
                }
                let (gone, stays) = leaver == "survivor" ? (survivor, absorbed) : (absorbed, survivor)
                let name = leaver == "survivor" ? "ada" : "eve"
                let database = try await LedgerTests.restore(backup)
                try await TestServer.with(database: database, application: application, providers: "scripted: {}") {
                    server in
                    let client = APIClient(server)
                    #expect(try await server.accounts(gone.uid) == 0)
                    #expect(try await server.accounts(stays.uid) == 1)
                    let dump = try await server.dump()
                    #expect(!dump.contains("\(name)@example.com"), "\(leaver)")
                    let back = try await client.present(.somebody(name == "ada" ? "eve" : "ada"))
                    #expect(back["user"]["id"].string == stays.uid)
                    let again = try await client.present(.somebody(name))
                    #expect(again["isNewAccount"] == true)
                }
            }
        }
    }

    @Test func `a restored backup does not bring back the code of an erased person`() async throws {
        try await withLedger { _, application in
            let address = APIClient.newAddress()
            let backup = try await TestServer.with(application: application) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                _ = try await client.post("/auth/email/otp", ["email": .string(address)], bearer: person.accessToken)
                let backup = try await server.dump()
                #expect(backup.contains(address))
                try await client.deleteAccount(person)
                try await server.erase(person.uid)
                return backup
            }
            let database = try await LedgerTests.restore(backup)
            try await TestServer.with(database: database, application: application) { server in
                #expect(try await server.rows(of: "accounts") == 0)
                let dump = try await server.dump()
                #expect(!dump.contains(address))
            }
        }
    }

    @Test func `a certificate stays valid after the backup is restored`() async throws {
        try await withLedger { _, application in
            let (backup, certificate) = try await TestServer.with(application: application) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                let backup = try await server.dump()
                let location = try await client.deleteAccount(person)
                try await server.erase(person.uid)
                return (backup, try await client.erasure(location)["certificate"].string ?? "")
            }
            let database = try await LedgerTests.restore(backup)
            try await TestServer.with(database: database, application: application) { server in
                let token = try DecodedToken(certificate)
                let keys = try await APIClient(server).send(.GET, "/.well-known/jwks.json")["keys"].array ?? []
                let key = try #require(keys.first { $0["kid"] == token.header["kid"] })
                let isSigned = try token.isSigned(by: key)
                #expect(isSigned)
            }
        }
    }

    @Test func `a line that no server wrote erases no account and prevents the start`() async throws {
        try await withLedger { path, application in
            let database = try await TemporaryPostgres.database(migrations: Migrations.all)
            let person = try await TestServer.with(database: database, application: application) { server in
                let client = APIClient(server)
                let (person, leaving) = (try await client.register(at: server), try await client.register(at: server))
                try await client.deleteAccount(leaving)
                try await server.erase(leaving.uid)
                let line = try String(contentsOfFile: path, encoding: .utf8)
                let forged = line + line.replacing(leaving.uid, with: person.uid)
                try Data(forged.utf8).write(to: URL(filePath: path))
                return person
            }
            var text = ""
            do {
                try await TestServer.with(database: database, application: application) { _ in }
            } catch {
                text = "\(error)"
            }
            #expect(text.contains("line 2 was not written by"), "\(text)")
            try await TestServer.with(database: database) { server in
                let left = try await server.accounts(person.uid)
                #expect(left == 1)
            }
        }
    }

    @Test func `a running replica is notified of sessions that a starting one ends`() async throws {
        try await withLedger { _, application in
            let (backup, person) = try await TestServer.with(application: application) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                let backup = try await server.dump()
                try await client.deleteAccount(person)
                try await server.erase(person.uid)
                return (backup, person)
            }
            let database = try await LedgerTests.restore(backup)
            // Without the ledger the restored backup contains the account again.
            try await TestServer.with(database: database) { server in
                let client = APIClient(server)
                let refreshed = try await client.refresh(person.refreshToken)
                let bearer = try #require(refreshed["accessToken"].string, "\(refreshed.text)")
                #expect(try await client.get("/auth/sessions", bearer: bearer).status == 200)
                try await TestServer.with(database: database, application: application) { _ in }
                try await eventually("it has heard of it") {
                    try await client.get("/auth/sessions", bearer: bearer).status == 401
                }
            }
        }
    }

    @Test func `a start with an empty ledger warns if accounts were erased`() async throws {
        try await withLedger { path, application in
            let database = try await TemporaryPostgres.database(migrations: Migrations.all)
            let log = CollectedLog()
            func warnings() -> [String] { log.lines.filter { $0.hasPrefix("warning the ledger of erasures is empty") } }
            try await TestServer.with(database: database, application: application, logger: log.logger) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                try await client.deleteAccount(person)
                try await server.erase(person.uid)
            }
            try await TestServer.with(database: database, application: application, logger: log.logger) { _ in }
            #expect(warnings() == [])
            try FileManager.default.removeItem(atPath: path)
            try await TestServer.with(database: database, application: application, logger: log.logger) { _ in }
            #expect(warnings().count == 1)
        }
    }

    @Test func `a start without a ledger logs the consequences`() async throws {
        let log = CollectedLog()
        let proxied = #"trustedProxies: ["127.0.0.1"]"#
        try await TestServer.with(server: proxied, logger: log.logger) { _ in }
        #expect(log.lines.contains { $0.contains("deletion.ledger") && $0.hasPrefix("notice") })
        try await withLedger { _, application in
            let log = CollectedLog()
            try await TestServer.with(server: proxied, application: application, logger: log.logger) { _ in }
            #expect(log.lines.filter { $0.contains("deletion.ledger") && $0.hasPrefix("notice") } == [])
        }
    }
}
