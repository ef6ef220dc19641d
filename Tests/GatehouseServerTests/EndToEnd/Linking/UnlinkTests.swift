import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Removing identities.
struct UnlinkTests {
    @Test func `removing an identity ends the sessions that it opened, and no others`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let linked = try await client.link(.somebody("ada"), bearer: person.accessToken)
            let id = try await client.identityID(of: "scripted", bearer: person.accessToken)
            let removed = try await client.delete("/auth/identities/\(id)", bearer: person.accessToken)
            #expect(removed.status == 200 && removed.json == ["accountDeleted": false], "\(removed.text)")
            #expect(removed.headers.first(name: "location") == nil)
            expectError(
                try await client.get("/auth/me", bearer: linked["accessToken"].string), 401, "INVALID_TOKEN")
            #expect(try await client.get("/auth/me", bearer: person.accessToken)["authProviders"] == ["email"])
            let mails = try await client.mails(to: person.email, at: server, count: 3)
            #expect(mails.contains { $0.subject?.contains("Scripted") == true }, "the owner is told")
            let newcomer = try await client.present(.somebody("ada"))
            #expect(newcomer["isNewAccount"] == true, "the identity is free")
            expectError(
                try await client.delete("/auth/identities/\(id)", bearer: person.accessToken), 404, "IDENTITY_NOT_FOUND"
            )
        }
    }

    @Test func `the current identity is the one of the session`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let linked = try await client.link(.somebody("ada"), bearer: person.accessToken)
            let bearer = linked["accessToken"].string ?? ""
            #expect(try await client.delete("/auth/identities/current", bearer: bearer).status == 200)
            expectError(try await client.get("/auth/me", bearer: bearer), 401, "INVALID_TOKEN")
            #expect(
                try await client.identities(bearer: person.accessToken).map { $0["provider"].string } == ["email"])
        }
    }

    @Test func `the last identity moves its account, and returns with it`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.newcomer("ada", email: APIClient.newAddress())
            let removed = try await client.delete("/auth/identities/current", bearer: person.accessToken)
            #expect(removed.json == ["accountDeleted": true], "\(removed.text)")
            let location = try #require(removed.headers.first(name: "location"))
            #expect(try await client.send(.GET, location)["status"] == "scheduled")
            let refused = try await client.present(.somebody("ada"))
            expectError(refused, 403, "ACCOUNT_DELETED")
            let restored = try await client.post(
                "/auth/account/restore", ["restoreToken": refused.json["error"]["details"]["restoreToken"]])
            #expect(restored["user"]["id"].string == person.uid, "\(restored.text)")
            #expect(restored["user"]["email"].string == person.email)
        }
    }

    @Test func `an account can also be restored by one of its addresses`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.newcomer("ada", email: APIClient.newAddress())
            #expect(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
            let code = try await client.challenge("email", person.email, at: server)
            let refused = try await client.post("/auth/email/otp/verify", .object(code))
            expectError(refused, 403, "ACCOUNT_DELETED")
            let restored = try await client.post(
                "/auth/account/restore", ["restoreToken": refused.json["error"]["details"]["restoreToken"]])
            #expect(restored["user"]["id"].string == person.uid, "\(restored.text)")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
        }
    }

    @Test func `no account keeps only identities that cannot sign in`() async throws {
        try await TestServer.linking(providers: "other: { kind: scripted, mode: linkOnly }") { server, client in
            let person = try await client.newcomer("ada")
            #expect(
                try await client.link(.somebody("bob"), bearer: person.accessToken, provider: "other").status == 200)
            let refused = try await client.delete("/auth/identities/current", bearer: person.accessToken)
            expectError(refused, 409, "LAST_USABLE_IDENTITY")
            let details = refused.json["error"]["details"]
            #expect(details["rule"] == "identity.last-usable" && details["remedies"].array?.isEmpty == false)
            #expect(try await client.identities(bearer: person.accessToken).count == 2, "nothing changes")
            let other = try await client.identityID(of: "other", bearer: person.accessToken)
            #expect(try await client.delete("/auth/identities/\(other)", bearer: person.accessToken).status == 200)
        }
    }

    @Test func `concurrent removals end in one state`() async throws {
        try await TestServer.linking { server, client in
            for _ in 0..<10 {
                let person = try await client.newcomer()
                let bearer = person.accessToken
                _ = try await client.link(.somebody(), bearer: bearer)
                let ids = try await client.identities(bearer: bearer).compactMap { $0["id"].string }
                let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                    for id in ids {
                        group.addTask { try await client.delete("/auth/identities/\(id)", bearer: bearer) }
                    }
                    return try await group.reduce(into: [APIClient.Answer]()) { $0.append($1) }
                }
                // The second removal either removes the last identity and deletes the account, or finds its session
                // ended because the first removal took the identity that had opened it.
                let texts = Set(
                    answers.map { $0.status == 200 ? "\($0["accountDeleted"].bool ?? false)" : $0.code ?? "" })
                #expect(texts == ["false", "true"] || texts == ["false", "INVALID_TOKEN"], "\(texts)")
                let stranded = try await server.count(
                    """
                    SELECT count(*) FROM accounts a WHERE uid = $1 AND deleted_at IS NULL
                       AND NOT EXISTS (SELECT FROM identities i
                                        WHERE i.application_id = a.application_id AND i.uid = a.uid)
                    """, [.uuid(UUID(uuidString: person.uid))])
                #expect(stranded == 0)
            }
        }
    }

    @Test func `another account's identity can't be removed`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let id = try await client.identityID(of: "scripted", bearer: eve.accessToken)
            for wrong in [id, UUID().uuidString, "nonsense"] {
                expectError(
                    try await client.delete("/auth/identities/\(wrong)", bearer: ada.accessToken), 404,
                    "IDENTITY_NOT_FOUND")
            }
            #expect(try await client.get("/auth/me", bearer: eve.accessToken).status == 200)
        }
    }

    @Test func `a provider's tokens are queued for revocation`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.newcomer("ada")
            var evidence = VerifiedIdentity.somebody("bob")
            evidence.tokens = ProviderTokens(refreshToken: "upstream")
            _ = try await client.link(evidence, bearer: person.accessToken)
            let ids = try await client.identities(bearer: person.accessToken)
            let id = try #require(ids.first { $0["providerUid"] == "bob" }?["id"].string)
            #expect(try await client.delete("/auth/identities/\(id)", bearer: person.accessToken).status == 200)
            #expect(try await server.count("SELECT count(*) FROM provider_tokens") == 0)
            #expect(try await server.count("SELECT count(*) FROM token_revocations") == 1)
        }
    }
}
