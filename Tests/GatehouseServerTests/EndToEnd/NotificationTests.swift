import Accounts
import Foundation
import ProviderKit
import Testing

/// Notifications that a provider sends to the server.
struct NotificationTests {
    private func with(_ body: @Sendable @escaping (TestServer, APIClient) async throws -> Void) async throws {
        try await TestServer.with(providers: "scripted: {}") { server in
            try await body(server, APIClient(server))
        }
    }

    private func person(_ client: APIClient, _ evidence: VerifiedIdentity) async throws -> Person {
        try Person(try await client.present(evidence), email: "", password: "")
    }

    private func event(
        _ client: APIClient, _ type: String, _ subject: String, id: String = UUID().uuidString, more: JSONValue = [:]
    ) async throws -> APIClient.Answer {
        var payload: [String: JSONValue] = ["type": .string(type), "sub": .string(subject), "jti": .string(id)]
        payload.merge(more.object ?? [:]) { $1 }
        let text = String(decoding: try JSONEncoder().encode(JSONValue.object(payload)), as: UTF8.self)
        return try await client.post("/auth/scripted/notifications", ["payload": .string(text)])
    }

    @Test(arguments: ["account-deleted", "consent-revoked"])
    func `one identity of several is removed, with the sessions that it opened`(type: String) async throws {
        try await with { server, client in
            let person = try await client.register(at: server)
            let joined = try await self.person(client, .somebody("ada", email: person.email))
            #expect(joined.uid == person.uid)
            #expect(try await event(client, type, "ada").status == 200)
            expectError(try await client.get("/auth/me", bearer: joined.accessToken), 401, "INVALID_TOKEN")
            let me = try await client.get("/auth/me", bearer: person.accessToken)
            #expect(me["authProviders"] == ["email"] && me["email"].string == person.email, "\(me.text)")
            let mails = try await client.mails(to: person.email, at: server, count: 3)
            #expect(mails.contains { $0.subject?.contains("no longer opens your account") == true })
            let again = try await client.present(.somebody("ada"))
            #expect(again["isNewAccount"] == true, "the identity is free")
        }
    }

    @Test func `an address that only the removed identity showed is free`() async throws {
        try await with { server, client in
            let address = APIClient.newAddress()
            let person = try await client.register(at: server)
            var evidence = VerifiedIdentity.somebody("ada", email: person.email)
            evidence.addresses += VerifiedIdentity.somebody(email: address).addresses
            evidence.addresses.reverse()
            #expect(try await self.person(client, evidence).uid == person.uid)
            #expect(try await event(client, "consent-revoked", "ada").status == 200)
            let owner = try await client.present(.somebody("eve", email: address))
            #expect(owner["isNewAccount"] == true && owner["user"]["email"].string == address, "\(owner.text)")
        }
    }

    @Test func `the account of a deleted last identity enters its grace period`() async throws {
        try await with { server, client in
            let person = try await self.person(client, .somebody("ada"))
            #expect(try await event(client, "account-deleted", "ada").status == 200)
            expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.present(.somebody("ada")), 403, "ACCOUNT_DELETED")
        }
    }

    @Test func `revoked consent for the last identity ends its sessions and drops its tokens, no more`() async throws {
        try await with { server, client in
            var evidence = VerifiedIdentity.somebody("ada")
            evidence.tokens = ProviderTokens(refreshToken: "r")
            let person = try await self.person(client, evidence)
            #expect(try await event(client, "consent-revoked", "ada").status == 200)
            expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
            #expect(try await server.count("SELECT count(*) FROM provider_tokens") == 0)
            let again = try await client.present(.somebody("ada"))
            #expect(again.status == 200 && again["user"]["id"].string == person.uid, "\(again.text)")
        }
    }

    @Test func `an event acts once, and an event older than the identity not at all`() async throws {
        try await with { server, client in
            let first = try await self.person(client, .somebody("ada"))
            #expect(try await event(client, "consent-revoked", "ada", id: "one").status == 200)
            expectError(try await client.get("/auth/me", bearer: first.accessToken), 401, "INVALID_TOKEN")
            let second = try await self.person(client, .somebody("ada"))
            let answers = try await atOnce(10) { try await event(client, "consent-revoked", "ada", id: "one") }
            #expect(answers.allSatisfy { $0.status == 200 })
            let old = Int64(Date().timeIntervalSince1970) - 3600
            #expect(
                try await event(client, "account-deleted", "ada", more: ["at": .integer(old)]).status == 200)
            #expect(try await client.get("/auth/me", bearer: second.accessToken).status == 200)
        }
    }

    @Test func `mail that is not passed on is not sent`() async throws {
        try await with { server, client in
            let address = APIClient.newAddress()
            let person = try await self.person(client, .somebody("ada", email: address))
            let off = try await event(client, "forwarding", "ada", more: ["email": .string(address), "on": false])
            #expect(off.status == 200, "\(off.text)")
            #expect(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
            #expect(try await server.count("SELECT count(*) FROM outbox") == 0)
            _ = try await event(client, "forwarding", "ada", more: ["email": .string(address), "on": true])
            #expect(try await server.count("SELECT count(*) FROM addresses WHERE is_silent") == 0)
        }
    }

    @Test func `events about unknown people and of unknown types are accepted, forged ones are not`() async throws {
        try await with { _, client in
            #expect(try await event(client, "consent-revoked", "nobody").status == 200)
            #expect(try await event(client, "something-new", "ada").status == 200)
            expectError(
                try await client.post("/auth/scripted/notifications", ["payload": "{}"]), 401, "INVALID_TOKEN")
            expectError(try await client.post("/auth/scripted/notifications"), 400, "MISSING_PARAMETER")
            expectError(try await client.post("/auth/email/notifications", ["payload": "x"]), 404, "NOT_FOUND")
        }
    }
}
