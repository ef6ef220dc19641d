import Foundation
import GatehouseTesting
import Migrations
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse explain`, beside a running server on the same database.
struct ExplainCommandTests {
    @Test func `explaining prints the verdict with its rule and changes nothing`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { server in
            let (client, file) = (APIClient(server), ServerFile(database: database))
            let person = try await client.register(at: server)
            let guest = try await client.guest()
            let before = try await server.count("SELECT count(*) FROM audit_events")
            try await ProcessDirectory.with { directory in
                func explain(_ evidence: String, _ more: [String] = []) async throws -> GatehouseProcess.Outcome {
                    try directory.write(evidence, to: "evidence.json")
                    let arguments = ["explain", "--application", "demo", "--provider", "email"]
                    return try await file.run(arguments + ["--evidence", "evidence.json"] + more, in: directory)
                }
                let known = #"{"providerUid":"\#(person.email)","email":"\#(person.email)","emailVerified":true}"#
                let cases: [(evidence: String, more: [String], rule: String, words: String)] = [
                    (known, [], "identity.known", "signs in to \(person.uid)"),
                    (#"{"providerUid":"new@example.com"}"#, [], "identity.new", "opens a new account"),
                    (
                        #"{"providerUid":"x","email":"\#(person.email)","emailVerified":true}"#, [], "address.owned",
                        "joins \(person.uid)"
                    ),
                    (known, ["--account", guest.uid], "identity.in-use", "ticket to merge with \(person.uid)"),
                    (known, ["--account", guest.uid, "--on-conflict", "merge"], "guest.merge", "absorbs the guest"),
                    (known, ["--account", person.uid], "identity.own", "signs in to \(person.uid)"),
                ]
                for test in cases {
                    let outcome = try await explain(test.evidence, test.more)
                    #expect(outcome.status == 0, "\(outcome.errorLines)")
                    #expect(outcome.output.contains("rule:     \(test.rule)\n"), "\(outcome.output)")
                    #expect(outcome.output.contains(test.words), "\(outcome.output)")
                }
                var linkOnly = file
                linkOnly.emailMode = "linkOnly"
                let arguments = ["explain", "--provider", "email", "--evidence", "evidence.json"]
                try directory.write(known, to: "evidence.json")
                let refused = try await linkOnly.run(arguments + ["--account", guest.uid], in: directory)
                #expect(refused.output.contains("rule:     identity.in-use\n"), "\(refused.output)")
                #expect(refused.output.contains("without a ticket"), "\(refused.output)")
                #expect(!refused.output.contains("mergeToken"), "\(refused.output)")
                for (evidence, more, reason) in [
                    ("{}", [], "is not a JSON object with a providerUid"),
                    (#"{"providerUid":"x","email":"nonsense"}"#, [], "email is not an address"),
                    (known, ["--account", UUID().uuidString], "there is no account"),
                ] {
                    let outcome = try await explain(evidence, more)
                    #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errorLines)")
                    #expect(outcome.errorLines.first?.contains(reason) == true, "\(outcome.errorLines)")
                }
            }
            #expect(try await server.count("SELECT count(*) FROM audit_events") == before)
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind <> 'registration'") == 0)
        }
    }

    @Test func `the uid of an absorbed account is an alias of the surviving account`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, providers: "scripted: {}") { server in
            let client = APIClient(server)
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            #expect(try await client.merge(ticket, bearer: ada.accessToken).status == 200)
            try await ProcessDirectory.with { directory in
                let file = ServerFile(database: database)
                let shown = try await file.run(["account", "show", eve.uid], in: directory)
                let account = try JSONDecoder().decode(JSONValue.self, from: Data(shown.output.utf8))
                #expect(account["uid"].string == ada.uid, "\(shown.errorLines)")
                #expect(try await file.run(["account", "disable", eve.uid], in: directory).status == 0)
            }
            expectError(try await client.present(.somebody("eve")), 403, "ACCOUNT_DISABLED")
        }
    }
}
