import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Reviewing linked identities through the link in the mail about a password reset.
struct IdentityReviewTests {
    @Test func `the mail names what was linked, and keeping it lifts the quarantine`() async throws {
        try await TestServer.linking { server, client in
            let address = APIClient.newAddress()
            let (person, identity) = try await client.victim(at: server, of: "eve", email: address)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.reviewToken(of: person.email, at: server)
            let mail = try #require(server.inbox.messages().first { $0.text.contains(token) })
            #expect(mail.to == person.email && mail.text.contains("Scripted (\(address))"), "\(mail.text)")
            let others = try await client.mails(to: address, at: server, count: 1)
            #expect(others.allSatisfy { !$0.text.contains("token=") }, "that mailbox may be the intruder's")

            for wrong in ["", String(repeating: "A", count: 43), token + "x", person.refreshToken] {
                expectError(try await client.review(wrong, keep: [identity]), 401, "INVALID_TOKEN", wrong)
            }
            let foreign = try await client.victim(at: server, of: "somebody").identity
            for ids in [[foreign], [identity, foreign], [identity, "x"], [UUID().uuidString]] {
                expectError(try await client.review(token, keep: ids), 400, "INVALID_PARAMETER", "\(ids)")
                expectError(try await client.review(token, remove: ids), 400, "INVALID_PARAMETER", "\(ids)")
            }
            expectError(
                try await client.review(token, keep: [identity], remove: [identity]), 400, "INVALID_PARAMETER")
            try expectQuarantined(try await client.present(.somebody("eve")), "nothing was used up or changed")

            let kept = try await client.review(token, keep: [identity])
            #expect(kept.status == 204 && kept.body.isEmpty, "\(kept.text)")
            #expect(try await client.present(.somebody("eve"))["user"]["id"].string == person.uid)
            expectError(try await client.review(token, keep: [identity]), 401, "INVALID_TOKEN")
        }
    }

    @Test func `removing unlinks as the owner would`() async throws {
        try await TestServer.linking { server, client in
            let (person, identity) = try await client.victim(at: server, of: "eve")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.reviewToken(of: person.email, at: server)
            let bearer = try await client.bearer(of: person)
            let own = try await client.identityID(of: "email", bearer: bearer)
            expectError(try await client.review(token, remove: [identity, own]), 409, "LAST_USABLE_IDENTITY")
            expectError(try await client.review(token, remove: [own]), 409, "LAST_USABLE_IDENTITY")
            #expect(try await client.review(token, remove: [identity]).status == 204)
            #expect(try await client.identities(bearer: bearer).map { $0["provider"] } == ["email"])
            #expect(
                try await client.mails(to: person.email, at: server, count: 5).contains {
                    $0.subject?.contains("no longer opens") == true
                })
            #expect(try await client.present(.somebody("eve"))["isNewAccount"] == true)
        }
    }

    @Test func `only one of many concurrent reviews is carried out`() async throws {
        try await TestServer.linking { server, client in
            let (person, identity) = try await client.victim(at: server, of: "eve")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.reviewToken(of: person.email, at: server)
            let answers = try await atOnce(10) { try await client.review(token, keep: [identity]) }
            #expect(answers.count { $0.status == 204 } == 1, "\(answers.map(\.text))")
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 9)
        }
    }

    @Test func `a token works for a week, and until the next reset`() async throws {
        try await TestServer.linking { server, client in
            let (person, identity) = try await client.victim(at: server, of: "eve")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let first = try await client.reviewToken(of: person.email, at: server)
            let life: StaticString = """
                SELECT count(*) FROM proofs WHERE kind = 'review' AND uid = $1
                   AND expires_at - created_at = interval '7 days'
                """
            #expect(try await server.count(life, [.uuid(UUID(uuidString: person.uid))]) == 1)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let second = try await client.reviewToken(of: person.email, at: server, other: [first])
            expectError(try await client.review(first, keep: [identity]), 401, "INVALID_TOKEN")
            try await server.execute("UPDATE proofs SET expires_at = now() WHERE kind = 'review'")
            expectError(try await client.review(second, keep: [identity]), 401, "INVALID_TOKEN")
        }
    }

    @Test(arguments: [
        "UPDATE identities SET provider_uid = 'new@example.com'", "UPDATE identities SET quarantined_at = now()",
    ])
    func `the mailbox that got the link cannot use it once it no longer opens the account`(
        change: String
    ) async throws {
        try await TestServer.linking { server, client in
            let (person, identity) = try await client.victim(at: server, of: "eve")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.reviewToken(of: person.email, at: server)
            try await server.backend.database.transaction { try await $0.script("\(change) WHERE provider = 'email'") }
            expectError(try await client.review(token, keep: [identity]), 401, "INVALID_TOKEN")
        }
    }

    @Test func `if nothing was linked since, the mail has no link`() async throws {
        try await TestServer.linking { server, client in
            let (person, identity) = try await client.victim(at: server, of: "ada")
            try await server.execute(
                "UPDATE identities SET created_at = now() - interval '30 days' WHERE id = $1",
                [.uuid(UUID(uuidString: identity))])
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            _ = try await client.mails(to: person.email, at: server, count: 4)
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'review'") == 0)
        }
    }
}
