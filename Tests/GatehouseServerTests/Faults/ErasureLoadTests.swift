import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Many accounts become due for erasure while people sign in; runs only in the long mode.
///
/// `gatehouse-bench erasure` measures how much this slows down sign-ins, with a release build and separate clients.
struct ErasureLoadTests {
    private static let accounts = 10_000

    @Test(.longMode)
    func `people sign in while ten thousand accounts are erased`() async throws {
        try await ProcessDirectory.with { directory in
            let ledger = directory.url.appending(path: "ledger").path
            try await TestServer.with(application: "deletion: { ledger: \"\(ledger)\" }") { server in
                let client = APIClient(server)
                var people: [Person] = []
                for _ in 1...50 { people.append(try await client.register(at: server)) }
                _ = try await signIns(of: people, by: client) { $0 < 200 }
                let usual = try await signIns(of: people, by: client) { $0 < 1000 }
                try await fill(server)
                let erasing = try await signIns(of: people, by: client) { _ in try await due(server) > 0 }
                let ratio = erasing.p99 / usual.p99
                let report = """
                    p99 \(usual.p99.milliseconds) ms usually, \(erasing.p99.milliseconds) ms during erasure: \
                    ratio \(ratio), of \(usual.count) and \(erasing.count) sign-ins
                    """
                print(report)
                // Erasures rest while they delay others. The limit is generous, because other work slows the machine down.
                #expect(ratio < 10, "\(report)")
                #expect(
                    try await server.count("SELECT count(*) FROM erasures WHERE certificate IS NOT NULL")
                        == Self.accounts)
                let lines = try String(contentsOfFile: ledger, encoding: .utf8).split(separator: "\n")
                #expect(lines.count == Self.accounts)
            }
        }
    }

    private func fill(_ server: TestServer) async throws {
        try await server.execute(
            """
            WITH account AS (
                INSERT INTO accounts (application_id, uid, display_name, audit_key, deleted_at, purge_after)
                SELECT (SELECT id FROM applications WHERE name = 'demo'), gen_random_uuid(), 'Person ' || n,
                       sha256(n::text::bytea), now(), now()
                  FROM generate_series(1, 10000) n
                RETURNING application_id, uid
            ), identity AS (
                INSERT INTO identities (application_id, id, uid, provider, provider_uid, email, email_verified)
                SELECT application_id, gen_random_uuid(), uid, 'email', uid || '@example.com', uid || '@example.com', true
                  FROM account
            ), address AS (
                INSERT INTO addresses (application_id, kind, address, uid)
                SELECT application_id, 'email', uid || '@example.com', uid FROM account
            )
            INSERT INTO erasures (application_id, receipt, uid, purge_after)
            SELECT application_id, gen_random_uuid(), uid, now() FROM account
            """)
    }

    private func due(_ server: TestServer) async throws -> Int {
        try await server.count(
            "SELECT count(*) FROM (SELECT FROM accounts WHERE purge_after IS NOT NULL LIMIT 1) AS due")
    }

    /// Signs in four people at a time, with a pause after each sign-in, while `goesOn` is true.
    private func signIns(
        of people: [Person], by client: APIClient, while goesOn: @Sendable @escaping (Int) async throws -> Bool
    ) async throws -> [Duration] {
        try await withThrowingTaskGroup(of: [Duration].self) { group in
            for _ in 1...4 {
                group.addTask {
                    let clock = ContinuousClock()
                    var times: [Duration] = []
                    while try await goesOn(times.count * 4) {
                        try await Task.sleep(for: .milliseconds(20))
                        let person = people[times.count % people.count]
                        let start = clock.now
                        let login = try await client.login(person.email)
                        times.append(clock.now - start)
                        try #require(login.status == 200, "\(login.text)")
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}

extension [Duration] {
    fileprivate var p99: Duration { sorted()[Swift.min(count - 1, count * 99 / 100)] }
}
