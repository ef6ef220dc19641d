import Accounts
import Administration
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// What the link of a recovery proves, and what is spent with it.
struct RecoveryProofTests {
    private static let number = "+33612345678"
    private static let newPassword: [String: JSONValue] = ["newPassword": .string(APIClient.otherPassword)]

    private func link(_ address: String, _ client: APIClient, _ bearer: String, at server: TestServer) async throws {
        let kind = address.contains("@") ? "email" : "phone"
        let code = try await client.challenge(kind, address, at: server, bearer: bearer)
        let linked = try await client.post("/auth/identities/\(kind)", .object(code), bearer: bearer)
        try #require(linked.status == 200, "\(linked.text)")
    }

    /// Expects that the mailbox of an intruder was told nothing that leads into the account, and opens it no longer.
    private func expectLockedOut(_ address: String, _ client: APIClient, at server: TestServer) async throws {
        try expectQuarantined(try await client.resetPassword(of: address, at: server), "by a reset")
        let code = try await client.challenge("email", address, at: server)
        try expectQuarantined(try await client.post("/auth/email/otp/verify", .object(code)), "by a code")
        #expect(server.linkTokens(to: address, at: "review").isEmpty)
    }

    @Test(arguments: ["sms", "show"])
    func `a link that was texted or shown makes no mailbox of an intruder the owner's`(deliver: String) async throws {
        try await TestServer.inviting { server, client, key in
            let code = try await client.challenge("phone", Self.number, at: server)
            let owner = try await client.post("/auth/phone/otp/verify", .object(code))
            let uid = try #require(owner["user"]["id"].string, "\(owner.text)")
            let intruder = APIClient.newAddress()
            try await link(intruder, client, try #require(owner["accessToken"].string), at: server)

            let token: String
            if deliver == "sms" {
                #expect(try await client.sendRecovery(to: uid, "sms", by: key).status == 202)
                token = try await server.linkToken(to: Self.number, at: "recover")
            } else {
                token = try await server.shownRecovery(of: uid)
            }
            // The account has no other mailbox, so no password can be set, and the link stays good.
            let refused = try await client.recover(token, Self.newPassword)
            #expect(refused.status == 404, "\(refused.text)")
            var proof = try await client.challenge("phone", Self.number, at: server)
            proof["provider"] = "phone"
            let session = try await client.recover(token, proof)
            #expect(session.status == 200 && session["user"]["id"].string == uid, "\(session.text)")
            try await expectLockedOut(intruder, client, at: server)
            let again = try await client.challenge("phone", Self.number, at: server)
            #expect(try await client.post("/auth/phone/otp/verify", .object(again))["user"]["id"].string == uid)
        }
    }

    @Test func `a texted link sets the password of the mailbox that is surely the owner's`() async throws {
        try await TestServer.inviting { server, client, key in
            let code = try await client.challenge("phone", Self.number, at: server)
            let owner = try await client.post("/auth/phone/otp/verify", .object(code))
            let uid = try #require(owner["user"]["id"].string, "\(owner.text)")
            let bearer = try #require(owner["accessToken"].string)
            let (intruder, own) = (APIClient.newAddress(), APIClient.newAddress())
            for address in [intruder, own] { try await link(address, client, bearer, at: server) }
            // The intruder's is the oldest, and was quarantined before.
            try await server.age("identities", "created_at", by: "30 days", where: "email IS NOT NULL")
            try await server.age("identities", "created_at", by: "1 day", where: "email = '\(intruder)'")
            try await server.execute(
                "UPDATE identities SET quarantined_at = now() WHERE email = $1", [.text(intruder)])
            let late = APIClient.newAddress()
            try await link(late, client, bearer, at: server)

            #expect(try await client.sendRecovery(to: uid, "sms", by: key).status == 202)
            let token = try await server.linkToken(to: Self.number, at: "recover")
            let session = try await client.recover(token, Self.newPassword)
            #expect(session.status == 200 && session["user"]["id"].string == uid, "\(session.text)")
            #expect(try await client.login(own, APIClient.otherPassword)["user"]["id"].string == uid)
            for address in [intruder, late] { try await expectLockedOut(address, client, at: server) }
            #expect(server.linkTokens(to: own, at: "review").isEmpty)
        }
    }

    @Test func `evidence that was used before leaves the link and the sessions`() async throws {
        try await TestServer.inviting { server, client, key in
            let person = try await client.register(at: server)
            var once = VerifiedIdentity.somebody("ada")
            once.singleUse = SingleUse(id: "once", expires: Date() + 600)
            #expect(try await client.link(once, bearer: person.accessToken).status == 200)
            let token = try await client.recovery(of: person, by: key, at: server)
            let events = try await server.audited {
                let refused = try await client.recover(
                    token, ["provider": "scripted", "proof": .string(try once.proof)])
                #expect(refused.status == 401, "\(refused.text)")
            }
            #expect(!events.contains { $0.event == "account.recovered" || $0.event == "session.ended" })
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)
            #expect(try await client.login(person.email).status == 200, "the password stays")
            #expect(try await client.recover(token, Self.newPassword).status == 200, "the link is still good")
        }
    }
}
