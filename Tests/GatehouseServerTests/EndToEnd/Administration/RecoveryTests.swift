import Accounts
import Administration
import Delivery
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Owners get back into their accounts with a link of an administrator.
struct RecoveryTests {
    private static let newPassword: [String: JSONValue] = ["newPassword": .string(APIClient.otherPassword)]

    private func expectOver(_ person: Person, at server: TestServer, _ client: APIClient) async throws {
        expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
        expectError(try await client.refresh(person.refreshToken), 401, "INVALID_REFRESH_TOKEN")
        #expect(try await server.liveSessions(of: person.uid) == 1, "only the new one")
    }

    @Test func `a mailed link sets a password, ends the sessions and quarantines what was linked before`() async throws
    {
        try await TestServer.inviting { server, client, key in
            let (person, _) = try await client.victim(at: server, of: "eve")
            let pending = try await client.challenge(
                "email", APIClient.newAddress(), at: server, bearer: person.accessToken)
            let sent = try await server.audited {
                let answer = try await client.sendRecovery(to: person.uid, "mail", by: key)
                #expect(answer.status == 202 && answer.json.keys == ["expiresAt"], "\(answer.text)")
            }
            let id = String(key.dropFirst(4).prefix(16))
            let details: JSONValue = [
                "actor": ["key": .string(id)], "reason": ["code": "person-asked", "ticket": "T-1"], "deliver": "mail",
            ]
            #expect(
                sent == [
                    .init(
                        event: "account.recovery-sent", details: details,
                        account: try await server.pseudonym(of: person.uid))
                ])
            let token = try await server.linkToken(to: person.email, at: "recover")
            expectError(try await client.recover(token, ["newPassword": "password"]), 400, "TOO_WEAK_PASSWORD")
            expectError(try await client.recover(token, [:]), 400, "MISSING_PARAMETER")
            let reset = try await client.forget(at: server, person.email)

            let used = try await server.audited {
                let session = try await client.recover(token, Self.newPassword)
                #expect(session.status == 200 && session["user"]["id"].string == person.uid, "\(session.text)")
                #expect(try await client.get("/auth/me", bearer: session["accessToken"].string).status == 200)
            }
            #expect(
                Set(used.map(\.event)).isSuperset(of: ["account.recovered", "password.set", "identity.quarantined"]))
            try await expectOver(person, at: server, client)
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS")
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
            try expectQuarantined(try await client.present(.somebody("eve")))
            expectRefusal(try await client.post("/auth/identities/email", .object(pending), bearer: person.accessToken))
            expectError(try await client.recover(token, Self.newPassword), 401, "INVALID_TOKEN", "used twice")
            // As after a reset, the mail lists what was linked.
            #expect(
                try await eventuallyMailed("/review?token=", to: person.email, at: server).text.contains("Scripted"))
            expectError(
                try await client.reset(reset, to: APIClient.thirdPassword), 401, "INVALID_TOKEN", "mailed before")
        }
    }

    @Test(arguments: [true, false]) func `a late replay of a provider's code ends the session that it opened`(
        byRecovery isRecovery: Bool
    ) async throws {
        try await TestServer.inviting(application: "redirectURIs: [\"demo://oauth/callback\"]") { server, client, key in
            let redirect = RedirectClient(api: client)
            let arrival = try await redirect.arrive(redirect.begin(), with: .somebody("ada"))
            let proof = redirect.proof(of: arrival).merging(["provider": "scripted"]) { $1 }
            let entered =
                if isRecovery {
                    try await client.recover(
                        client.recovery(of: client.register(at: server), by: key, at: server), proof)
                } else {
                    try await client.accept(
                        client.invitation(to: APIClient.newAddress(), by: key, at: server), proof)
                }
            let bearer = try #require(entered["accessToken"].string, "\(entered.text)")
            try await server.age("redirect_flows", "redeemed_at", by: "3 seconds")
            expectError(try await redirect.redeem(arrival.query("code")), 401, "INVALID_TOKEN")
            expectError(try await client.get("/auth/me", bearer: bearer), 401, "INVALID_TOKEN")
        }
    }

    @Test func `an identity of a provider comes in, and the old password no longer does`() async throws {
        try await TestServer.inviting { server, client, key in
            let (person, _) = try await client.victim(at: server, of: "eve")
            let other = try await client.newcomer("other")
            let token = try await client.recovery(of: person, by: key, at: server)
            func recover(_ subject: String) async throws -> APIClient.Answer {
                let proof = try VerifiedIdentity.somebody(subject).proof
                return try await client.recover(token, ["provider": "scripted", "proof": .string(proof)])
            }
            expectError(try await recover("other"), 409, "IDENTITY_IN_USE")
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200, "nothing has changed")
            let session = try await recover("ada")
            #expect(session.status == 200 && session["user"]["id"].string == person.uid, "\(session.text)")
            try await expectOver(person, at: server, client)
            #expect(try await client.get("/auth/me", bearer: other.accessToken).status == 200)
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS")
            try expectQuarantined(try await client.present(.somebody("eve")))
            #expect(try await client.present(.somebody("ada"))["user"]["id"].string == person.uid)
            // The address that the link was sent to is still a way in.
            let code = try await client.challenge("email", person.email, at: server)
            #expect(try await client.post("/auth/email/otp/verify", .object(code))["user"]["id"].string == person.uid)
            expectError(try await recover("grace"), 401, "INVALID_TOKEN")
        }
    }

    @Test func `an own identity that was quarantined comes in with the link`() async throws {
        try await TestServer.inviting { server, client, key in
            let (person, _) = try await client.victim(at: server, of: "ada")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            try expectQuarantined(try await client.present(.somebody("ada")))
            let token = try await client.recovery(of: person, by: key, at: server)
            let proof = try VerifiedIdentity.somebody("ada").proof
            let session = try await client.recover(token, ["provider": "scripted", "proof": .string(proof)])
            #expect(session.status == 200 && session["user"]["id"].string == person.uid, "\(session.text)")
            #expect(try await client.present(.somebody("ada")).status == 200)
        }
    }

    @Test func `twenty callers come in once`() async throws {
        try await TestServer.inviting { server, client, key in
            let person = try await client.register(at: server)
            let token = try await client.recovery(of: person, by: key, at: server)
            let answers = try await atOnce(20) {
                if Bool.random() { return try await client.recover(token, Self.newPassword) }
                let proof = try VerifiedIdentity.somebody().proof
                return try await client.recover(token, ["provider": "scripted", "proof": .string(proof)])
            }
            #expect(answers.count { $0.status == 200 } == 1, "\(answers.map(\.status))")
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 19)
            #expect(try await server.liveSessions(of: person.uid) == 1)
        }
    }

    @Test func `a new link and a password reset end the earlier link, and an hour does`() async throws {
        try await TestServer.inviting { server, client, key in
            let person = try await client.register(at: server)
            let first = try await client.recovery(of: person, by: key, at: server)
            let second = try await client.recovery(of: person, by: key, at: server)
            expectError(try await client.recover(first, Self.newPassword), 401, "INVALID_TOKEN", "replaced")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            expectError(try await client.recover(second, Self.newPassword), 401, "INVALID_TOKEN", "after a reset")
            let third = try await client.recovery(of: person, by: key, at: server)
            try await server.age("proofs", "expires_at", by: "1 hour", where: "kind = 'recovery'")
            expectError(try await client.recover(third, Self.newPassword), 401, "INVALID_TOKEN", "expired")
        }
    }

    @Test func `a link is texted, but not to a number that was idle too long`() async throws {
        try await TestServer.inviting { server, client, key in
            let number = "+33612345678"
            let person = try await client.register(at: server)
            expectError(try await client.sendRecovery(to: person.uid, "sms", by: key), 409, "WRONG_STATE")
            let code = try await client.challenge("phone", number, at: server, bearer: person.accessToken)
            #expect(
                try await client.post("/auth/identities/phone", .object(code), bearer: person.accessToken).status == 200
            )
            #expect(try await client.sendRecovery(to: person.uid, "sms", by: key).status == 202)
            let token = try await server.linkToken(to: number, at: "recover")
            try await server.age("addresses", "verified_at", by: "366 days", where: "kind = 'phone'")
            try await server.age("identities", "last_used_at", "created_at", by: "366 days", where: "phone IS NOT NULL")
            expectError(try await client.sendRecovery(to: person.uid, "sms", by: key), 409, "WRONG_STATE", "idle")
            let session = try await client.recover(token, Self.newPassword)
            #expect(session.status == 200 && session["user"]["id"].string == person.uid, "\(session.text)")
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
        }
    }

    @Test func `no link goes to an address that is not verified, or that only a quarantined identity has`() async throws
    {
        try await TestServer.inviting { server, client, key in
            let unverified = VerifiedIdentity.somebody(email: APIClient.newAddress(), isVerified: false)
            let uid = try #require(try await client.present(unverified)["user"]["id"].string)
            expectError(try await client.sendRecovery(to: uid, "mail", by: key), 409, "WRONG_STATE")

            let shown = APIClient.newAddress()
            let (person, _) = try await client.victim(at: server, of: "eve", email: shown)
            try await server.age("addresses", "verified_at", by: "1 day", where: "address = '\(shown)'")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.recovery(of: person, by: key, at: server)
            #expect(try await client.recover(token, Self.newPassword).status == 200)
            #expect(server.linkTokens(to: shown, at: "recover").isEmpty)
        }
    }

    @Test func `a key is never shown a link`() async throws {
        try await TestServer.inviting { server, client, key in
            let person = try await client.register(at: server)
            let confirm: [String: JSONValue] = ["confirm": .string("recover \(person.uid)")]
            let refused = try await client.sendRecovery(to: person.uid, "show", confirm, by: key)
            expectError(refused, 403, "FORBIDDEN")
            #expect(refused.json["error"]["details"]["scope"] == "accounts:recover")
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'recovery'") == 0)
        }
    }

    @Test func `every verified address is told of a link that is shown`() async throws {
        try await TestServer.inviting { server, client, _ in
            let number = "+33612345678"
            let person = try await client.register(at: server)
            let code = try await client.challenge("phone", number, at: server, bearer: person.accessToken)
            _ = try await client.post("/auth/identities/phone", .object(code), bearer: person.accessToken)
            let token = try await server.shownRecovery(of: person)
            for address in [person.email, number] {
                let notice = try await eventuallyMailed("link", to: address, at: server) {
                    $0.contains("was made") || $0.contains("have made a link")
                }
                #expect(!notice.text.contains(token))
            }
            let session = try await client.recover(token, Self.newPassword)
            #expect(session.status == 200 && session["user"]["id"].string == person.uid, "\(session.text)")
        }
    }

    @Test func `accounts that nobody can come back to get no link`() async throws {
        try await TestServer.inviting { server, client, key in
            let guest = try await client.guest()
            expectError(try await client.sendRecovery(to: guest.uid, "mail", by: key), 409, "WRONG_STATE")
            let unknown = UUID().uuidString.lowercased()
            expectError(try await client.sendRecovery(to: unknown, "mail", by: key), 404, "ACCOUNT_NOT_FOUND")
            let person = try await client.register(at: server)
            let token = try await client.recovery(of: person, by: key, at: server)
            try await server.setDisabled(true, person)
            expectError(try await client.sendRecovery(to: person.uid, "mail", by: key), 409, "WRONG_STATE")
            expectError(try await client.recover(token, Self.newPassword), 403, "ACCOUNT_DISABLED")
            try await server.setDisabled(false, person)
            expectError(try await client.recover(token, Self.newPassword), 401, "INVALID_TOKEN")

            let leaving = try await client.register(at: server)
            let link = try await client.recovery(of: leaving, by: key, at: server)
            #expect(try await client.delete("/auth/account", bearer: leaving.accessToken).status == 204)
            expectError(try await client.sendRecovery(to: leaving.uid, "mail", by: key), 409, "WRONG_STATE")
            expectError(try await client.recover(link, Self.newPassword), 401, "INVALID_TOKEN")
        }
    }

    @Test func `an account that has lost its idle number lets its owner in again by another identity`() async throws {
        try await TestServer.inviting { server, client, key in
            let number = "+33612345678"
            func signIn() async throws -> APIClient.Answer {
                let code = try await client.challenge("phone", number, at: server)
                return try await client.post("/auth/phone/otp/verify", .object(code))
            }
            let person = try Person(try await signIn(), email: "", password: "")
            #expect(try await client.post("/auth/logout", [:], bearer: person.accessToken).status == 204)
            try await server.age("addresses", "verified_at", by: "366 days", where: "kind = 'phone'")
            try await server.age("identities", "last_used_at", "created_at", by: "366 days", where: "phone IS NOT NULL")
            let new = try Person(try await signIn(), email: "", password: "")
            #expect(new.uid != person.uid)
            await #expect(throws: AdministrationError.self, "it is being deleted") {
                try await server.shownRecovery(of: person)
            }
            let restored = try await client.post(
                "/admin/accounts/\(person.uid)/restore", ["reason": APIClient.reason], bearer: key)
            #expect(restored.status == 200, "\(restored.text)")
            for deliver in ["mail", "sms"] {
                let refused = try await client.sendRecovery(to: person.uid, deliver, by: key)
                expectError(refused, 409, "WRONG_STATE", deliver)
            }
            let token = try await server.shownRecovery(of: person)
            expectError(try await client.recover(token, Self.newPassword), 404, "IDENTITY_NOT_FOUND")
            let proof = try VerifiedIdentity.somebody("ada").proof
            let session = try await client.recover(token, ["provider": "scripted", "proof": .string(proof)])
            #expect(session.status == 200 && session["user"]["id"].string == person.uid, "\(session.text)")
            // The number proves the new account, so both can become one.
            let bearer = try #require(session["accessToken"].string)
            let code = try await client.challenge("phone", number, at: server, bearer: bearer)
            let conflict = try await client.post("/auth/identities/phone", .object(code), bearer: bearer)
            let ticket = try #require(conflict.json["error"]["details"]["mergeToken"].string, "\(conflict.text)")
            #expect(try await client.merge(ticket, bearer: bearer, survivor: "current").status == 200)
            #expect(try await signIn()["user"]["id"].string == person.uid)
        }
    }

    /// Waits for a message whose text contains a part, and matches the condition.
    private func eventuallyMailed(
        _ part: String, to address: String, at server: TestServer, where matches: (String) -> Bool = { _ in true }
    ) async throws -> DeliveredMessage {
        var found: DeliveredMessage?
        try await eventually("\(part) reaches \(address)") {
            found = server.inbox.messages().first {
                $0.to == address && $0.text.contains(part) && matches($0.text.replacing("\n", with: " "))
            }
            return found != nil
        }
        return try #require(found)
    }
}
