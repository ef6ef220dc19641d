import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Linking further identities to a signed-in account.
struct LinkTests {
    @Test func `an unknown identity joins the account and opens a session of its own`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let linked = try await client.link(.somebody("ada"), bearer: person.accessToken)
            #expect(linked.status == 200, "\(linked.text)")
            #expect(linked["user"]["id"].string == person.uid && linked["isNewAccount"] == false)
            #expect(linked["user"]["authProviders"] == ["email", "scripted"])
            #expect(linked["auth"]["provider"] == "scripted" && linked["auth"]["providerUid"] == "ada")
            let (old, new) = (
                try DecodedToken(person.accessToken).claims["sid"],
                try DecodedToken(linked["accessToken"].string ?? "").claims["sid"]
            )
            #expect(old != new)
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200, "it is as it was")
            let mails = try await client.mails(to: person.email, at: server, count: 2)
            #expect(mails.contains { $0.text.contains("Scripted") }, "the owner is told")
            let again = try await client.present(.somebody("ada"))
            #expect(again["user"]["id"].string == person.uid)
            let listed = try await client.identities(bearer: person.accessToken)
            #expect(listed.map { $0["provider"].string } == ["email", "scripted"])
            #expect(listed.map { $0["current"].bool } == [true, false])
            #expect(
                listed[0].keys.isSuperset(of: [
                    "id", "provider", "providerUid", "email", "emailVerified", "phone", "displayName", "createdAt",
                    "lastUsedAt", "current",
                ]))
            #expect(listed[0]["email"].string == person.email && listed[0]["emailVerified"] == true)
        }
    }

    @Test func `an account with only a phone number is notified by text message`() async throws {
        try await TestServer.linking { server, client in
            let code = try await client.challenge("phone", "+33612345678", at: server)
            let person = try Person(
                try await client.post("/auth/phone/otp/verify", .object(code)), email: "", password: "")
            #expect(try await client.link(.somebody("ada"), bearer: person.accessToken).status == 200)
            let texts = try await client.mails(to: "+33612345678", at: server, count: 2)
            #expect(texts.contains { $0.text.contains("further way to sign in") }, "\(texts.map(\.text))")
        }
    }

    @Test func `linking an identity that is already linked re-authenticates`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.newcomer("ada")
            let again = try await client.link(.somebody("ada"), bearer: person.accessToken)
            #expect(again.status == 200 && again["user"]["id"].string == person.uid, "\(again.text)")
            #expect(try await client.identities(bearer: person.accessToken).count == 1)
        }
    }

    @Test func `linking needs a recent authentication, which a re-authentication gives`() async throws {
        try await TestServer.linking(application: "recentAuthentication: 60s") { server, client in
            let (person, guest) = (try await client.newcomer("ada"), try await client.guest())
            try await server.letPass(.seconds(61))
            // A new access token states when the session was authenticated.
            func bearer(of person: Person) async throws -> String {
                try #require(try await client.refresh(person.refreshToken)["accessToken"].string)
            }
            let old = try await bearer(of: person)
            expectError(try await client.link(.somebody(), bearer: old), 403, "TOKEN_TOO_OLD")
            let fresh = try await client.reauthenticate(.somebody("ada"), bearer: old)
            #expect(fresh.status == 200, "\(fresh.text)")
            #expect(try await client.link(.somebody(), bearer: fresh["accessToken"].string ?? "").status == 200)
            let bearerOfGuest = try await bearer(of: guest)
            #expect(try await client.link(.somebody(), bearer: bearerOfGuest).status == 200, "a guest is not asked")
        }
    }

    @Test func `a guest is asked for a recent authentication once an identity can give it`() async throws {
        try await TestServer.linking(
            application: "recentAuthentication: 60s", providers: "other: { kind: scripted, mode: linkOnly }"
        ) { server, client in
            var refreshToken = try await client.guest().refreshToken
            for (subject, provider, status) in [
                ("ada", "other", 200), ("bob", "scripted", 200), ("eve", "scripted", 403),
            ] {
                try await server.letPass(.seconds(61))
                let session = try await client.refresh(refreshToken)
                refreshToken = try #require(session["refreshToken"].string)
                let bearer = try #require(session["accessToken"].string)
                let linked = try await client.link(.somebody(subject), bearer: bearer, provider: provider)
                #expect(linked.status == status, "\(subject): \(linked.text)")
                if let token = linked["refreshToken"].string { refreshToken = token }
            }
        }
    }

    @Test func `only an identity of the account re-authenticates`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.newcomer("ada")
            _ = try await client.newcomer("eve")
            for subject in ["eve", "nobody"] {
                let refused = try await client.reauthenticate(.somebody(subject), bearer: person.accessToken)
                expectError(refused, 401, "INVALID_CREDENTIALS", subject)
                #expect(refused.json["error"]["details"]["rule"] == "reauthentication.foreign")
            }
            #expect(try await server.count("SELECT count(*) FROM identities") == 2)
        }
    }

    @Test func `another account's identity is refused with a ticket, and nothing changes`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let refused = try await client.link(.somebody("eve"), bearer: ada.accessToken)
            expectError(refused, 409, "IDENTITY_IN_USE")
            let details = refused.json["error"]["details"]
            #expect(details["rule"] == "identity.in-use" && details["reason"].string?.isEmpty == false)
            #expect(details["remedies"].array?.isEmpty == false && details["mergeToken"].string != nil)
            #expect(try await client.get("/auth/me", bearer: ada.accessToken).status == 200, "no session is lost")
            #expect(try await client.get("/auth/me", bearer: eve.accessToken).status == 200)
            #expect(try await client.present(.somebody("eve"))["user"]["id"].string == eve.uid)
        }
    }

    @Test func `of fifty accounts that link one identity at once, one does`() async throws {
        try await TestServer.linking { server, client in
            let people = try await atOnce(50) { try await client.newcomer() }
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                for person in people {
                    group.addTask { try await client.link(.somebody("wanted"), bearer: person.accessToken) }
                }
                return try await group.reduce(into: [APIClient.Answer]()) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(
                answers.count { $0.status == 409 && $0.code == "IDENTITY_IN_USE" } == 49, "\(answers.map(\.status))")
            #expect(try await server.count("SELECT count(*) FROM identities WHERE provider_uid = 'wanted'") == 1)
        }
    }

    @Test func `a linked identity shows another account's address, and does not claim it`() async throws {
        try await TestServer.linking { server, client in
            let owner = try await client.register(at: server)
            let person = try await client.newcomer("ada")
            let linked = try await client.link(.somebody("bob", email: owner.email), bearer: person.accessToken)
            #expect(linked.status == 200 && linked["user"]["id"].string == person.uid, "\(linked.text)")
            #expect(linked["user"]["emailVerified"] == false)
            let identity = try await client.identities(bearer: person.accessToken).last
            #expect(identity?["email"].string == owner.email && identity?["emailVerified"] == false)
            #expect(try await client.login(owner.email).status == 200)
        }
    }

    @Test func `identities of deleted and disabled accounts are refused in the same way`() async throws {
        try await TestServer.linking { server, client in
            let (ada, gone, banned) = (
                try await client.newcomer("ada"), try await client.newcomer("gone"), try await client.newcomer("banned")
            )
            #expect(try await client.delete("/auth/account", bearer: gone.accessToken).status == 204)
            try await server.setDisabled(true, banned)
            let deleted = try await client.link(.somebody("gone"), bearer: ada.accessToken)
            expectError(deleted, 403, "ACCOUNT_DELETED")
            #expect(deleted.json["error"]["details"]["restoreToken"].string != nil)
            expectError(try await client.link(.somebody("banned"), bearer: ada.accessToken), 403, "ACCOUNT_DISABLED")
        }
    }

    @Test(arguments: ["linkOnly", "existing"]) func `a provider that opens no accounts can be linked`(mode: String)
        async throws
    {
        try await TestServer.linking(providers: "other: { kind: scripted, mode: \(mode) }") { server, client in
            let person = try await client.newcomer("ada")
            let linked = try await client.link(.somebody("bob"), bearer: person.accessToken, provider: "other")
            #expect(linked.status == 200, "\(linked.text)")
            let guest = try await client.guest()
            let guests = try await client.link(.somebody("eve"), bearer: guest.accessToken, provider: "other")
            #expect(guests["user"]["id"].string == guest.uid, "\(guests.text)")
            let refreshed = try await client.refresh(guests["refreshToken"].string ?? "")
            #expect(refreshed.status == 200, "it ends no session: \(refreshed.text)")
        }
    }

    @Test func `the answer has the user as the account is afterwards`() async throws {
        try await TestServer.linking(providers: "other: { kind: scripted, mode: linkOnly }") { server, client in
            let (person, guest, newcomer) = (
                try await client.register(at: server), try await client.guest(), try await client.newcomer("ada")
            )
            let links: [(bearer: String, evidence: VerifiedIdentity, provider: String)] = [
                (person.accessToken, .somebody("1", email: person.email), "scripted"),
                (person.accessToken, .somebody("2", email: "second@example.com"), "scripted"),
                (person.accessToken, .somebody("3"), "other"),
                (newcomer.accessToken, .somebody("4", email: "first@example.com"), "other"),
                (guest.accessToken, .somebody("5"), "other"), (guest.accessToken, .somebody("6"), "scripted"),
            ]
            for link in links {
                let linked = try await client.link(link.evidence, bearer: link.bearer, provider: link.provider)
                let token = try #require(linked["accessToken"].string, "\(linked.text)")
                let me = try await client.get("/auth/me", bearer: token)
                #expect(me.status == 200 && linked["user"] == me.json, "\(me.text)")
                #expect(try DecodedToken(token).claims["email"] == me["email"])
            }
        }
    }

    @Test func `a provider that cannot be linked is refused with a reason`() async throws {
        try await TestServer.linking(providers: "other: { kind: scripted, enabled: false }") { server, client in
            let person = try await client.newcomer("ada")
            func link(_ provider: String, _ body: JSONValue = ["proof": "refused"]) async throws -> APIClient.Answer {
                try await client.post("/auth/identities/\(provider)", body, bearer: person.accessToken)
            }
            expectError(try await link("nosuch"), 404, "UNSUPPORTED_PROVIDER")
            expectError(try await link("other"), 403, "PROVIDER_DISABLED")
            expectError(try await link("anonymous"), 403, "PROVIDER_DISABLED")
            expectError(try await link("scripted"), 401, "INVALID_TOKEN")
            expectError(try await link("scripted", [:]), 400, "MISSING_PARAMETER")
            expectError(try await link("phone", [:]), 400, "MISSING_PARAMETER")
            expectError(try await link("scripted", ["onConflict": "steal", "proof": "x"]), 400, "INVALID_PARAMETER")
            expectError(try await client.post("/auth/identities/scripted", ["proof": "x"]), 401, "INVALID_TOKEN")
            #expect(try await client.identities(bearer: person.accessToken).count == 1)
        }
    }

    @Test func `an identity that would join an account in its grace period restores that account`() async throws {
        try await TestServer.linking { _, client in
            let ada = try await client.newcomer("ada", email: "ada@example.com")
            #expect(try await client.delete("/auth/account", bearer: ada.accessToken).status == 204)
            let refused = try await client.present(.somebody("other", email: "ada@example.com"))
            expectError(refused, 403, "ACCOUNT_DELETED")
            let token = refused.json["error"]["details"]["restoreToken"]
            let restored = try await client.post("/auth/account/restore", ["restoreToken": token])
            #expect(restored.status == 200 && restored["isNewAccount"] == false, "\(restored.text)")
            #expect(restored["user"]["id"].string == ada.uid && restored["user"]["authProviders"] == ["scripted"])
            let joined = try await client.present(.somebody("other", email: "ada@example.com"))
            #expect(joined["user"]["id"].string == ada.uid && joined["isNewAccount"] == false, "\(joined.text)")
        }
    }
}
