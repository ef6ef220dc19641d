import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// A backup made under load is restored after people were erased.
@Suite(.serialized, .longMode) struct RestoredBackupTests {
    @Test func `a restored backup has what it contained, except for people erased since`() async throws {
        let cluster = TemporaryPostgres.cluster()
        try await cluster.start()
        try await attempt {
            try Database.runAlone("CREATE DATABASE faults", url: cluster.url)
            let url = cluster.url(database: "faults")
            try await FaultServers.with(database: url) { servers in
                let earlier = servers.load()
                try await earlier.run {}
                let leaving = try await people(8, of: servers)
                let later = servers.load()
                try await later.run {
                    try await run("pg_dump", ["--dbname", url, "--file", "dump.sql"], in: servers.directory)
                }
                var kept = earlier.journal.entries
                for account in leaving {
                    let deleted = try await servers.first.client.delete("/auth/account", bearer: account.accessToken)
                    let receipt = try #require(deleted.headers.first(name: "location"), "\(deleted.text)")
                    kept.erasures.append(.init(account: account, receipt: receipt))
                }
                try await servers.verify(kept)

                for replica in [servers.first, servers.second] { try await replica.end(by: SIGTERM) }
                for sql in ["DROP DATABASE faults", "CREATE DATABASE faults"] {
                    try Database.runAlone(sql, url: cluster.url)
                }
                try await run(
                    "psql", ["--dbname", url, "--quiet", "--set", "ON_ERROR_STOP=1", "--file", "dump.sql"],
                    in: servers.directory)
                for replica in [servers.first, servers.second] { try await replica.start() }
                // The verification before presented the refresh tokens, which the backup does not know.
                try await servers.verify(kept)
            }
        } finally: {
            await cluster.stop()
        }
    }

    private func people(_ count: Int, of servers: FaultServers) async throws -> [FaultJournal.Account] {
        var people: [FaultJournal.Account] = []
        for _ in 0..<count {
            let subject = UUID().uuidString
            let answer = try await servers.first.client.post("/auth/custom", servers.partner.body(of: subject))
            var account = FaultJournal.Account(try Person(answer, email: "", password: ""))
            account.subject = subject
            people.append(account)
        }
        return people
    }

    private func run(_ program: String, _ arguments: [String], in directory: ProcessDirectory) async throws {
        let outcome = try await GatehouseProcess.run(arguments, program: program, in: directory)
        try #require(outcome.status == 0, "\(outcome.errorLines)")
    }
}
