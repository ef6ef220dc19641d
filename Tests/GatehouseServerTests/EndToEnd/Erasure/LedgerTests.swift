import Accounts
import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Erased accounts stay erased after a backup is restored.
struct LedgerTests {
    private func withLedger(
        _ body: @Sendable @escaping (_ path: String, _ application: String) async throws -> Void
    ) async throws {
        try await ProcessDirectory.with { directory in
            let path = directory.url.appending(path: "ledger").path
            try await body(path, "deletion: { ledger: \"\(path)\" }")
        }
    }

    /// Creates a database from the dump and returns its URL.
    static func restore(_ dump: String) async throws -> String {
        let url = try await TemporaryPostgres.database()
        try await ProcessDirectory.with { directory in
            try directory.write(dump, to: "dump.sql")
            let outcome = try await GatehouseProcess.run(
                ["--dbname", url, "--quiet", "--set", "ON_ERROR_STOP=1", "--file", "dump.sql"], program: "psql",
                in: directory)
            try #require(outcome.status == 0, "\(outcome.errorLines)")
        }
        return url
    }

    @Test func `a server purges a restored backup before it is ready`() async throws {
        try await withLedger { path, application in
            let token = "token-\(UUID().uuidString)"
            let (backup, erased, absorbed, kept, location) = try await TestServer.with(
                application: application, providers: "scripted: {}"
            ) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                _ = try await client.link(.somebody("lovelace").holding(token), bearer: person.accessToken)
                let (eve, kept) = (try await client.newcomer("eve"), try await client.register(at: server))
                // The backup is made before any of the requests for deletion.
                let backup = try await server.dump()
                let ticket = try await client.ticket(.somebody("eve"), bearer: person.accessToken)
                let merged = try await client.merge(ticket, bearer: person.accessToken)
                let survivor = try Person(merged, email: person.email, password: "")
                let location = try await client.deleteAccount(survivor)
                _ = try await server.erase(survivor.uid)
                try await eventually("it is erased") { try await client.erasure(location)["status"] == "erased" }
                return (backup, person, eve, kept, location)
            }
            let lines = try String(contentsOfFile: path, encoding: .utf8)
            #expect(lines.split(separator: "\n").count == 1 && lines.hasSuffix("\n"))
            let line = try JSONDecoder().decode(JSONValue.self, from: Data(lines.utf8))
            #expect(line.keys == ["application", "uid", "aliases", "receipt", "requestedAt", "erasedAt", "mac"])
            #expect(!lines.contains(erased.email) && !lines.contains("lovelace"))

            let restored = try await Self.restore(backup)
            for round in 1...2 {
                // A starting server replays the ledger before it answers the first request.
                try await TestServer.with(database: restored, application: application, providers: "scripted: {}") {
                    server in
                    let client = APIClient(server)
                    #expect(try await client.send(.GET, "/health/ready").status == 200)
                    #expect(try await server.accounts(erased.uid) == 0, "\(round)")
                    #expect(try await server.accounts(absorbed.uid) == 0)
                    #expect(try await server.accounts(kept.uid) == 1)
                    expectError(try await client.get("/auth/me", bearer: erased.accessToken), 401, "INVALID_TOKEN")
                    expectError(try await client.refresh(erased.refreshToken), 401, "INVALID_REFRESH_TOKEN")
                    expectError(try await client.refresh(absorbed.refreshToken), 401, "INVALID_REFRESH_TOKEN")
                    #expect(try await client.refresh(kept.refreshToken).status == 200)
                    let erasure = try await client.erasure(location)
                    #expect(erasure["status"] == "erased" && erasure["erasedAt"] == line["erasedAt"])
                    #expect(erasure["requestedAt"] == line["requestedAt"])
                    #expect(try await !server.dump().contains(erased.email))
                }
            }
        }
    }

    @Test func `an erasure that could not be written down does not happen`() async throws {
        try await withLedger { path, application in
            try await TestServer.with(application: application) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                let location = try await client.deleteAccount(person)
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                await #expect(throws: (any Error).self) { try await server.erase(person.uid) }
                #expect(try await server.accounts(person.uid) == 1)
                #expect(try await client.erasure(location)["status"] == "scheduled")
                try FileManager.default.removeItem(atPath: path)
                #expect(try await server.erase(person.uid) == .erased(without: []))
            }
        }
    }

    @Test func `a line counts once it is synchronised to disk`() async throws {
        // A file that accepts writes but cannot be synchronised.
        let ledger = LedgerFile(path: "/dev/null") { _ in [] }
        let entry = LedgerEntry(
            application: "demo", uid: .v7(), aliases: [], receipt: UUID(), requestedAt: Date(), erasedAt: Date())
        var refusal: (any Error)?
        do { try await ledger.append(entry) } catch { refusal = error }
        #expect(refusal.map { "\($0)" }?.contains("fsync") == true, "\(String(describing: refusal))")
    }

    @Test func `a line that a crash truncated does not affect other lines`() async throws {
        try await withLedger { path, _ in
            let ledger = LedgerFile(path: path) { [UInt8($0.utf8.count % 256)] }
            let entries = (0..<20).map { number in
                LedgerEntry(
                    application: "demo", uid: .v7(), aliases: number == 1 ? [.v7(), .v7()] : [], receipt: UUID(),
                    requestedAt: Date(timeIntervalSince1970: 1_800_000_000.123),
                    erasedAt: Date(timeIntervalSince1970: 1_800_000_001.999))
            }
            #expect(try await ledger.entries() == [])
            try await ledger.append(entries[0])
            let torn = try FileHandle(forUpdating: URL(filePath: path))
            try torn.seekToEnd()
            try torn.write(contentsOf: Data(#"{"application":"demo","uid":"0198"#.utf8))
            try torn.close()
            try await ledger.append(entries[1])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for entry in entries[2...] { group.addTask { try await ledger.append(entry) } }
                try await group.waitForAll()
            }
            let read = try await ledger.entries()
            #expect(
                read.prefix(2).map { [$0.uid, $0.receipt] + $0.aliases }
                    == entries.prefix(2).map { [$0.uid, $0.receipt] + $0.aliases })
            #expect(Set(read.map(\.uid)) == Set(entries.map(\.uid)) && read.count == entries.count)
            #expect(read.allSatisfy { $0.erasedAt.precise == entries[0].erasedAt.precise })

            let spoilt = try FileHandle(forUpdating: URL(filePath: path))
            try spoilt.seekToEnd()
            try spoilt.write(contentsOf: Data("{\"application\":\"demo\"}\n".utf8))
            try spoilt.close()
            await #expect(throws: (any Error).self) { try await ledger.entries() }
        }
    }
}
