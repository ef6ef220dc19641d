import Accounts
import Administration
import Foundation
import GatehouseTesting
import Migrations
import ProviderKit
import Testing

@testable import GatehouseServer

/// `POST /explain`: what evidence would lead to.
struct ExplainTests {
    @Test func `the answer equals the verdict of the command`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, admin: "{ application: demo }") { server in
            let client = APIClient(server)
            let key = try await server.serviceKey([.readAccounts])
            let person = try await client.register(at: server)
            let guest = try await client.guest()
            let known: JSONValue = [
                "providerUid": .string(person.email), "email": .string(person.email), "emailVerified": true,
            ]
            let cases: [(evidence: JSONValue, more: [String: String])] = [
                (known, [:]), (["providerUid": "new@example.com"], [:]),
                (["providerUid": "x", "email": .string(person.email), "emailVerified": true], [:]),
                (["providerUid": "x", "email": .string(person.email)], [:]),
                (["providerUid": "x", "email": .string(person.email), "emailVerified": true, "trusted": false], [:]),
                (known, ["asking": guest.uid]), (known, ["asking": guest.uid, "onConflict": "merge"]),
                (known, ["asking": person.uid]),
            ]
            let options = ["asking": "--account", "onConflict": "--on-conflict"]
            let before = try await server.count("SELECT count(*) FROM audit_events")
            try await ProcessDirectory.with { directory in
                for (evidence, more) in cases {
                    var body: [String: JSONValue] = ["provider": "email", "evidence": evidence]
                    for (name, value) in more { body[name] = .string(value) }
                    let answer = try await client.post("/admin/explain", .object(body), bearer: key)
                    #expect(answer.status == 200, "\(answer.text)")
                    try directory.write(
                        String(decoding: JSONEncoder().encode(evidence), as: UTF8.self), to: "evidence.json")
                    let arguments = ["explain", "--provider", "email", "--evidence", "evidence.json"]
                    let outcome = try await ServerFile(database: database).run(
                        arguments + more.flatMap { [options[$0.key] ?? "", $0.value] }, in: directory)
                    for (line, field) in [("verdict: ", "verdict"), ("rule:    ", "rule"), ("because: ", "sentence")] {
                        let expected = "\(line) \(answer[field].string ?? "")\n"
                        #expect(
                            outcome.output.contains(expected), "\(expected)\n\(outcome.output)\(outcome.errorLines)")
                    }
                    let remedies = answer["remedies"].array?.compactMap(\.string) ?? []
                    #expect(outcome.output.split(separator: "\n").count { $0.hasPrefix("remedy:") } == remedies.count)
                    #expect(!answer.text.contains(person.email), "no address of another person")
                }
            }
            let searches = try await server.audited().filter { $0.event == "accounts.searched" }
            #expect(searches.count == cases.count && searches.allSatisfy { $0.details["kind"] == "explain" })
            #expect(searches.map(\.details["hits"]).contains(1) && searches.map(\.details["hits"]).contains(0))
            #expect(!"\(searches)".contains("@"), "no evidence")
            #expect(
                try await server.count("SELECT count(*) FROM audit_events") == before + cases.count, "nothing else")
        }
    }

    @Test func `the mode of the provider and automatic linking can be tried`() async throws {
        try await TimelineTests.with { server, client in
            let key = try await server.serviceKey([.readAccounts])
            let ada = try await client.newcomer("ada", email: APIClient.newAddress())
            let evidence: JSONValue = [
                "providerUid": "new", "email": .string(ada.email), "emailVerified": true,
            ]
            func explain(_ more: [String: JSONValue]) async throws -> APIClient.Answer {
                let body: [String: JSONValue] = ["provider": "scripted", "evidence": evidence]
                return try await client.post("/admin/explain", .object(body.merging(more) { $1 }), bearer: key)
            }
            let joined = try await explain([:])
            #expect(joined["rule"] == "address.owned" && joined["outcome"] == "join", "\(joined.text)")
            #expect(joined["addresses"].array?.map { $0["uid"].string } == [ada.uid])
            #expect(joined["policy"]["mode"] == "open" && joined["policy"]["automatic"] == "verified")
            #expect(try await explain(["automatic": "never"])["rule"] == "address.not-joined")
            #expect(try await explain(["mode": "existing", "automatic": "never"])["rule"] == "provider.no-sign-up")
            #expect(try await explain(["mode": "off"])["rule"] == "provider.off")
            for (more, status, code) in [
                (["provider": "none"], 404, "UNSUPPORTED_PROVIDER"),
                (["asking": .string(UUID().uuidString)], 404, "ACCOUNT_NOT_FOUND"),
                (["mode": "closed"], 400, "INVALID_PARAMETER"), (["automatic": "x"], 400, "INVALID_PARAMETER"),
                (["evidence": ["providerUid": ""]], 400, "INVALID_PARAMETER"),
                (["evidence": ["providerUid": "x", "email": "nonsense"]], 400, "INVALID_PARAMETER"),
                (["evidence": [:]], 400, "MISSING_PARAMETER"),
            ] as [([String: JSONValue], Int, String)] {
                expectError(try await explain(more), status, code, "\(more)")
            }
        }
    }

    @Test func `questions are counted as searches, and need the scope`() async throws {
        try await TestServer.with(
            rateLimits: "{ adminSearch: 2/min }", admin: "{ application: demo }"
        ) { server in
            let client = APIClient(server)
            let key = try await server.serviceKey([.readAccounts])
            let body: JSONValue = ["provider": "email", "evidence": ["providerUid": "x"]]
            for _ in 1...2 {
                let answer = try await client.post("/admin/explain", body, bearer: key)
                #expect(answer.status == 200, "\(answer.text)")
            }
            expectError(try await client.post("/admin/explain", body, bearer: key), 429, "RATE_LIMITED")
            let narrow = try await server.serviceKey([.readServer])
            expectError(try await client.post("/admin/explain", body, bearer: narrow), 403, "FORBIDDEN")
        }
    }
}
