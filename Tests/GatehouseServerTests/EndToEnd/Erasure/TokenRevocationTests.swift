import Accounts
import Foundation
import GatehouseTesting
import NIOHTTP1
import Postgres
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// Provider tokens are revoked after their identity is removed.
struct TokenRevocationTests {
    private func isRevoked(_ token: String) -> Bool {
        ScriptedProvider.revoked.withLock { $0.contains(token) }
    }

    @Test func `unlinking revokes the tokens at once and deletes them`() async throws {
        try await TestServer.linking { server, client in
            let token = "token-\(UUID().uuidString)"
            let person = try await client.register(at: server)
            _ = try await client.link(.somebody("ada").holding(token), bearer: person.accessToken)
            #expect(try await server.count("SELECT count(*) FROM provider_tokens") == 1)
            let id = try await client.identityID(of: "scripted", bearer: person.accessToken)
            #expect(try await client.delete("/auth/identities/\(id)", bearer: person.accessToken).status == 200)
            try await eventually("the token is given back") { isRevoked(token) }
            try await eventually("and forgotten") {
                try await server.count(
                    "SELECT count(*) FROM token_revocations WHERE revoked_at IS NOT NULL AND sealed IS NULL") == 1
            }
            #expect(try await server.count("SELECT count(*) FROM provider_tokens") == 0)
        }
    }

    @Test func `an erasure waits for a service that does not answer`() async throws {
        try await TestServer.linking { server, client in
            let token = "token-\(UUID().uuidString)"
            ScriptedProvider.refused.withLock { _ = $0.insert(token) }
            let answer = try await client.present(.somebody("ada").holding(token))
            let person = try Person(answer, email: "", password: "")
            let location = try await client.deleteAccount(person)
            let pending: [JSONValue] = [["name": "scripted", "status": "pending"]]
            #expect(try await client.erasure(location)["processors"].array == pending)
            guard case .waiting(let open) = try await server.erase(person.uid) else {
                Issue.record("it did not wait")
                return
            }
            #expect(open.map(\.name) == ["scripted"])
            try await eventually("it was tried") {
                try await server.text("SELECT failure FROM token_revocations") == "unreachable"
            }
            #expect(try await client.erasure(location)["processors"].array == pending)
            ScriptedProvider.refused.withLock { _ = $0.remove(token) }
            try await server.execute("UPDATE token_revocations SET due_at = now()")
            try await eventually("it is erased once the token is given back") {
                try await client.erasure(location)["status"] == "erased"
            }
            #expect(isRevoked(token))
            #expect(try await client.erasure(location)["processors"].array?.first?["status"] == "acknowledged")
        }
    }

    @Test func `events that are unanswered for days are given up visibly`() async throws {
        try await TestServer.linking { server, client in
            let token = "token-\(UUID().uuidString)"
            ScriptedProvider.refused.withLock { _ = $0.insert(token) }
            let person = try Person(try await client.present(.somebody("ada").holding(token)), email: "", password: "")
            let location = try await client.deleteAccount(person)
            _ = try await server.erase(person.uid)
            // An attempt under way would be made again a minute later.
            try await eventually("it was tried") {
                try await server.text("SELECT failure FROM token_revocations") == "unreachable"
            }
            try await server.age("token_revocations", "created_at", by: "97 hours")
            try await server.execute("UPDATE token_revocations SET due_at = now()")
            try await server.age("erasures", "requested_at", by: "98 hours")
            try await eventually("it is erased without the service", within: .seconds(60)) {
                try await client.erasure(location)["status"] == "erased"
            }
            #expect(try await client.erasure(location)["processors"].array?.first?["status"] == "unreachable")
            #expect(
                try await server.count(
                    "SELECT count(*) FROM token_revocations WHERE failed_at IS NOT NULL AND sealed IS NULL") == 1)
        }
    }

    @Test func `tokens of a provider that is no longer configured end visibly`() async throws {
        try await TestServer.linking { server, client in
            let token = "token-\(UUID().uuidString)"
            let person = try await client.register(at: server)
            _ = try await client.link(.somebody("ada").holding(token), bearer: person.accessToken)
            let id = try await client.identityID(of: "scripted", bearer: person.accessToken)
            try await server.execute("UPDATE identities SET provider = 'gone' WHERE provider = 'scripted'")
            #expect(try await client.delete("/auth/identities/\(id)", bearer: person.accessToken).status == 200)
            // The revocation is retried for a while, because another replica may still have this provider in its
            // configuration.
            try await eventually("it was tried") {
                try await server.text("SELECT failure FROM token_revocations WHERE failed_at IS NULL")
                    == "not-configured"
            }
            try await server.age("token_revocations", "created_at", by: "6 minutes")
            try await server.execute("UPDATE token_revocations SET due_at = now()")
            try await eventually("it is given up", within: .seconds(60)) {
                try await server.count("SELECT count(*) FROM token_revocations WHERE failed_at IS NOT NULL") == 1
            }
            #expect(!isRevoked(token))
        }
    }

    @Test func `tokens are revoked at Apple`() async throws {
        try await AppleSignInTests().with { apple in
            let (exchange, revocation) = (apple.upstream.url + "/auth/token", apple.upstream.url + "/auth/revoke")
            let identityToken = try apple.token("001")
            apple.upstream.service.answer(exchange) { _ in
                .json(["refresh_token": "r-001", "id_token": .string(identityToken)])
            }
            apple.upstream.service.answer(revocation) { _ in .json([:]) }
            let answer = try await apple.signIn(identityToken, ["authorizationCode": "code"])
            let person = try Person(answer, email: "", password: "")
            #expect(try await apple.server.count("SELECT count(*) FROM provider_tokens") == 1)
            let location = try await apple.client.deleteAccount(person)
            _ = try await apple.server.erase(person.uid)
            try await eventually("it is erased") {
                try await apple.client.erasure(location)["status"] == "erased"
            }
            let form = apple.upstream.service.requests.last { $0.url == revocation }?.form
            #expect(form?["token"] == "r-001" && form?["token_type_hint"] == "refresh_token")
            let processor = try await apple.client.erasure(location)["processors"].array?.first
            #expect(processor?["name"] == "apple" && processor?["status"] == "acknowledged")
            // A sign-in by the same person creates a new account.
            let again = try await apple.signIn(apple.token("001"))
            #expect(again["isNewAccount"] == true && again["user"]["id"].string != person.uid)
        }
    }
}
