import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Phone numbers that were unused for so long that the carrier may have given them to another person.
struct SecondProofTests {
    private static let number = "+33612345678"

    private func signIn(_ client: APIClient, at server: TestServer, bearer: String? = nil) async throws
        -> APIClient.Answer
    {
        let code = try await client.challenge("phone", Self.number, at: server)
        return try await client.post("/auth/phone/otp/verify", .object(code))
    }

    private func age(_ server: TestServer) async throws {
        try await server.age("addresses", "verified_at", by: "366 days", where: "kind = 'phone'")
        try await server.age("identities", "last_used_at", "created_at", by: "366 days", where: "phone IS NOT NULL")
    }

    @Test func `an idle number requires a second proof, and its ticket makes it usable again`() async throws {
        try await TestServer.linking { server, client in
            let person = try Person(try await signIn(client, at: server), email: "", password: "")
            #expect(try await client.link(.somebody("ada"), bearer: person.accessToken).status == 200)
            try await age(server)
            let refused = try await signIn(client, at: server)
            expectError(refused, 403, "SECOND_PROOF_REQUIRED")
            let details = refused.json["error"]["details"]
            #expect(details["rule"] == "number.idle" && details["remedies"].array?.isEmpty == false)
            let ticket = try #require(details["ticket"].string)
            let bogus = try await client.post(
                "/auth/scripted", ["proof": .string(VerifiedIdentity.somebody("ada").proof), "ticket": "nonsense"])
            expectError(bogus, 401, "INVALID_TOKEN")
            let second = try await client.post(
                "/auth/scripted", ["proof": .string(VerifiedIdentity.somebody("ada").proof), "ticket": .string(ticket)])
            #expect(second.status == 200 && second["user"]["id"].string == person.uid, "\(second.text)")
            let third = try await signIn(client, at: server)
            #expect(third.status == 200 && third["user"]["id"].string == person.uid, "\(third.text)")
        }
    }

    @Test func `a ticket that is presented twenty times at once confirms the number`() async throws {
        try await TestServer.linking { server, client in
            let person = try Person(try await signIn(client, at: server), email: "", password: "")
            #expect(try await client.link(.somebody("ada"), bearer: person.accessToken).status == 200)
            try await age(server)
            let ticket = try await signIn(client, at: server).json["error"]["details"]["ticket"]
            let body: JSONValue = try ["proof": .string(VerifiedIdentity.somebody("ada").proof), "ticket": ticket]
            let answers = try await atOnce(20) { try await client.post("/auth/scripted", body) }
            // Each has a proof that signs in by itself; those that come late learn that the ticket is used.
            #expect(answers.contains { $0.status == 200 })
            #expect(answers.allSatisfy { $0.status == 200 || $0.code == "INVALID_TOKEN" }, "\(answers.map(\.text))")
            #expect(try await signIn(client, at: server)["user"]["id"].string == person.uid)
        }
    }

    @Test func `another account's sign-in does not help`() async throws {
        try await TestServer.linking { server, client in
            let person = try Person(try await signIn(client, at: server), email: "", password: "")
            _ = try await client.link(.somebody("ada"), bearer: person.accessToken)
            try await age(server)
            let ticket = try await signIn(client, at: server).json["error"]["details"]["ticket"]
            let other = try await client.post(
                "/auth/scripted", ["proof": .string(VerifiedIdentity.somebody("eve").proof), "ticket": ticket])
            #expect(other.status == 200 && other["user"]["id"].string != person.uid)
            expectError(try await signIn(client, at: server), 403, "SECOND_PROOF_REQUIRED")
        }
    }

    @Test(arguments: [true, false])
    func `without another way in, the number leaves the old account`(isSignedIn: Bool) async throws {
        try await TestServer.linking { server, client in
            let old = try Person(try await signIn(client, at: server), email: "", password: "")
            if !isSignedIn {
                #expect(try await client.post("/auth/logout", [:], bearer: old.accessToken).status == 204)
            }
            try await age(server)
            let new = try await signIn(client, at: server)
            #expect(new.status == 200 && new["isNewAccount"] == true, "\(new.text)")
            #expect(new["user"]["id"].string != old.uid && new["user"]["phone"].string == Self.number)
            let deleted = try await server.count("SELECT count(*) FROM accounts WHERE deleted_at IS NOT NULL")
            #expect(deleted == (isSignedIn ? 0 : 1), "no identity can open it any more")
            guard isSignedIn else { return }
            let me = try await client.get("/auth/me", bearer: old.accessToken)
            #expect(me["phone"] == .null && me["isAnonymous"] == true, "the session continues: \(me.text)")
            let linked = try await client.link(.somebody("ada"), bearer: old.accessToken)
            #expect(linked["user"]["id"].string == old.uid, "\(linked.text)")
            #expect(try await client.refresh(linked["refreshToken"].string ?? "").status == 200)
        }
    }

    @Test func `an additional address is another way to sign in`() async throws {
        try await TestServer.linking(providers: "other: { kind: scripted, mode: linkOnly }") { server, client in
            let person = try Person(try await signIn(client, at: server), email: "", password: "")
            let linked = try await client.link(
                .somebody("ada", email: APIClient.newAddress()), bearer: person.accessToken, provider: "other")
            #expect(linked.status == 200, "\(linked.text)")
            try await age(server)
            expectError(try await signIn(client, at: server), 403, "SECOND_PROOF_REQUIRED")
        }
    }

    @Test func `linking an idle number gives no ticket to merge with its old account`() async throws {
        try await TestServer.linking { server, client in
            let old = try Person(try await signIn(client, at: server), email: "", password: "")
            _ = try await client.link(.somebody("ada"), bearer: old.accessToken)
            try await age(server)
            let person = try await client.newcomer("eve")
            let code = try await client.challenge("phone", Self.number, at: server, bearer: person.accessToken)
            let refused = try await client.post("/auth/identities/phone", .object(code), bearer: person.accessToken)
            expectError(refused, 403, "SECOND_PROOF_REQUIRED")
            #expect(refused.json["error"]["details"]["mergeToken"] == .null)
        }
    }

    @Test func `an idle number re-authenticates its own account`() async throws {
        try await TestServer.linking { server, client in
            let person = try Person(try await signIn(client, at: server), email: "", password: "")
            _ = try await client.link(.somebody("ada"), bearer: person.accessToken)
            try await age(server)
            let code = try await client.challenge("phone", Self.number, at: server)
            let answer = try await client.post(
                "/auth/reauthenticate", .object(code.merging(["provider": "phone"]) { $1 }), bearer: person.accessToken)
            #expect(answer.status == 200 && answer["user"]["id"].string == person.uid, "\(answer.text)")
        }
    }

    @Test func `an idle number does not restore a deleted account that has another identity`() async throws {
        try await TestServer.linking { server, client in
            let person = try Person(try await signIn(client, at: server), email: "", password: "")
            _ = try await client.link(.somebody("ada"), bearer: person.accessToken)
            #expect(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
            expectError(try await signIn(client, at: server), 403, "ACCOUNT_DELETED", "while it is in use")
            try await age(server)
            let refused = try await signIn(client, at: server)
            expectError(refused, 403, "SECOND_PROOF_REQUIRED")
            #expect(refused.json["error"]["details"]["restoreToken"] == .null)
            expectError(try await client.present(.somebody("ada")), 403, "ACCOUNT_DELETED", "the other way")
        }
    }

    @Test func `an idle number restores no account, even if the account has no other way in`() async throws {
        try await TestServer.linking { server, client in
            let person = try Person(try await signIn(client, at: server), email: "", password: "")
            #expect(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
            let inTime = try await signIn(client, at: server)
            #expect(inTime.json["error"]["details"]["restoreToken"].string != nil, "\(inTime.text)")
            try await server.execute("DELETE FROM proofs")
            try await age(server)
            let eve = try await client.newcomer("eve")
            for bearer in [nil, eve.accessToken] {
                let code = try await client.challenge("phone", Self.number, at: server, bearer: bearer)
                let path = bearer == nil ? "/auth/phone/otp/verify" : "/auth/identities/phone"
                let refused = try await client.post(path, .object(code), bearer: bearer)
                expectRefusal(refused, 403, "ACCOUNT_DELETED", rule: "account.deleted")
                #expect(refused.json["error"]["details"]["purgeAfter"].string != nil)
                #expect(refused.json["error"]["details"]["restoreToken"] == .null)
            }
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'restore'") == 0)
        }
    }

    @Test func `an idle number that a provider verified does not join an account either`() async throws {
        try await TestServer.linking { server, client in
            let person = try Person(try await signIn(client, at: server), email: "", password: "")
            _ = try await client.link(.somebody("ada"), bearer: person.accessToken)
            let number = try #require(PhoneNumber(Self.number))
            let claim = AddressClaim(address: .phone(number), isVerified: true, isAuthoritative: true)
            try await age(server)
            let vouched = try await client.present(VerifiedIdentity(providerUid: "eve", addresses: [claim]))
            expectError(vouched, 403, "SECOND_PROOF_REQUIRED")
            #expect(try await client.present(.somebody("eve"))["isNewAccount"] == true, "it was not joined")
        }
    }
}
