import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// A password reset locks out people who linked an identity to the account before it.
struct QuarantineTests {
    private static let uris = "redirectURIs: [\"demo://oauth/callback\"]"

    @Test func `an identity linked before a reset opens nothing until another sign-in carries its ticket`()
        async throws
    {
        try await TestServer.linking(application: Self.uris) { server, client in
            let (person, _) = try await client.victim(at: server, of: "eve")
            let stranger = try await client.newcomer("stranger")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)

            let proof = try VerifiedIdentity.somebody("eve").proof
            try expectQuarantined(try await client.present(.somebody("eve")), "directly")
            try expectQuarantined(
                try await client.post("/auth/oauth/scripted/token", ["idToken": .string(proof)]), "native")
            let redirect = RedirectClient(api: client)
            let code = try await redirect.arrive(redirect.begin(), with: .somebody("eve")).query("code")
            try expectQuarantined(try await redirect.redeem(code), "by redirect")
            try expectQuarantined(
                try await client.link(.somebody("eve"), bearer: stranger.accessToken), "for another account")
            let guest = try await client.guest()
            for choice in ["switch", "merge"] {
                try expectQuarantined(
                    try await client.link(.somebody("eve"), bearer: guest.accessToken, onConflict: choice), choice)
            }
            let bearer = try await client.bearer(of: person)
            try expectQuarantined(
                try await client.reauthenticate(.somebody("eve"), bearer: bearer), "authenticating again")
            let ticket = try expectQuarantined(try await client.link(.somebody("eve"), bearer: bearer), "linked again")
            #expect(try await quarantined(client, bearer) == ["scripted"])

            let other = try await client.post(
                "/auth/scripted", ["proof": .string(VerifiedIdentity.somebody("stranger").proof), "ticket": ticket])
            #expect(other.status == 200, "another account's sign-in: \(other.text)")
            try expectQuarantined(try await client.present(.somebody("eve")), "which lifts nothing")
            let login = try await client.post(
                "/auth/login",
                [
                    "email": .string(person.email), "password": .string(APIClient.otherPassword), "ticket": ticket,
                ])
            #expect(login.status == 200, "\(login.text)")
            #expect(try await client.present(.somebody("eve"))["user"]["id"].string == person.uid)
            #expect(try await quarantined(client, bearer) == [])
        }
    }

    private func quarantined(_ client: APIClient, _ bearer: String) async throws -> [String] {
        try await client.identities(bearer: bearer).filter { $0["quarantined"] == true }
            .compactMap { $0["provider"].string }
    }

    @Test func `a mailbox that an intruder links locks out only the intruder`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let address = APIClient.newAddress()
            let code = try await client.challenge("email", address, at: server, bearer: person.accessToken)
            #expect(
                try await client.post("/auth/identities/email", .object(code), bearer: person.accessToken).status == 200
            )
            #expect(try await client.resetPassword(of: address, at: server).status == 204)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
            let again = try await client.challenge("email", address, at: server)
            try expectQuarantined(try await client.post("/auth/email/otp/verify", .object(again)))
        }
    }

    @Test(arguments: ["current", "other"])
    func `identities of a merge are quarantined, whichever account survives`(survivor: String) async throws {
        try await TestServer.linking { server, client in
            _ = try await client.newcomer("eve")
            let person = try await client.register(at: server)
            let conflict = try await client.link(.somebody("eve"), bearer: person.accessToken)
            let ticket = try #require(conflict["error"]["details"]["mergeToken"].string, "\(conflict.text)")
            let merged = try await client.merge(ticket, bearer: person.accessToken, survivor: survivor)
            #expect(merged.status == 200, "\(merged.text)")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            try expectQuarantined(try await client.present(.somebody("eve")))
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
        }
    }

    /// Somebody who holds the person's session links an identity, and proves it from an account of their own.
    @Test(arguments: ["guest", "account"], ["current", "other"])
    func `the intruder's side of a merge is quarantined, too`(side: String, survivor: String) async throws {
        try await TestServer.linking { server, client in
            let own =
                side == "guest"
                ? try await client.guest().accessToken
                : try await client.register(at: server).accessToken
            let (person, _) = try await client.victim(at: server, of: "eve")
            let identities = try await client.identities(bearer: own).map { $0["id"] }
            let ticket = try await client.ticket(.somebody("eve"), bearer: own)
            let merged = try await client.merge(ticket, bearer: own, survivor: survivor)
            try #require(merged.status == 200, "\(merged.text)")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            try expectQuarantined(try await client.present(.somebody("eve")))
            let bearer = try await client.bearer(of: person)
            let left = try await client.identities(bearer: bearer).filter { identities.contains($0["id"]) }
            #expect(left.count == (side == "guest" ? 0 : 1) && left.allSatisfy { $0["quarantined"] == true })
        }
    }

    @Test func `after a reset the owner undoes an intruder's merge, and has the uid again`() async throws {
        try await TestServer.linking { server, client in
            let intruder = try await client.newcomer("eve")
            let person = try await client.register(at: server)
            let ticket = try await client.ticket(.somebody("eve"), bearer: person.accessToken)
            let merged = try await client.merge(ticket, bearer: person.accessToken, survivor: "other")
            let id = try #require(merged["merge"]["id"].string, "\(merged.text)")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let undone = try await client.post("/auth/merges/\(id)/undo", bearer: try await client.bearer(of: person))
            #expect(undone.status == 204, "\(undone.text)")
            let login = try await client.login(person.email, APIClient.otherPassword)
            #expect(login["user"]["id"].string == person.uid, "\(login.text)")
            #expect(try await client.present(.somebody("eve"))["user"]["id"].string == intruder.uid)
        }
    }

    /// The second merge makes all identities of the first as new as each other.
    @Test func `a second merge lets no intruder stay`() async throws {
        try await TestServer.linking { server, client in
            _ = try await client.newcomer("eve")
            let person = try await client.register(at: server)
            let own = try await client.ticket(.somebody("eve"), bearer: person.accessToken)
            try #require(try await client.merge(own, bearer: person.accessToken).status == 200)
            let other = try await client.newcomer("mallory").accessToken
            let ticket = try await client.ticket(.somebody("eve"), bearer: other)
            try #require(try await client.merge(ticket, bearer: other).status == 200)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            for intruder in ["eve", "mallory"] { try expectQuarantined(try await client.present(.somebody(intruder))) }
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
        }
    }

    @Test func `an address that only a quarantined identity shows opens no account`() async throws {
        try await TestServer.linking(providers: "other: { kind: scripted }") { server, client in
            let address = APIClient.newAddress()
            let (person, _) = try await client.victim(at: server, of: "eve", email: address)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let code = try await client.challenge("email", address, at: server)
            try expectQuarantined(try await client.post("/auth/email/otp/verify", .object(code)), "by code")
            try expectQuarantined(try await client.resetPassword(of: address, at: server), "by a reset of its own")
            let body: JSONValue = [
                "provider": "other", "proof": .string(try VerifiedIdentity.somebody("x", email: address).proof),
            ]
            try expectQuarantined(try await client.post("/auth/scripted", body), "vouched for by another provider")
            let stranger = try await client.post(
                "/auth/scripted",
                ["provider": "other", "proof": .string(try VerifiedIdentity.somebody("stranger").proof)])
            let bearer = try #require(stranger["accessToken"].string, "\(stranger.text)")
            let linking = try await client.challenge("email", address, at: server, bearer: bearer)
            let ticket = try expectQuarantined(
                try await client.post("/auth/identities/email", .object(linking), bearer: bearer), "for another")
            let login = try await client.post(
                "/auth/login",
                ["email": .string(person.email), "password": .string(APIClient.otherPassword), "ticket": ticket])
            #expect(login.status == 200, "\(login.text)")
            let again = try await client.challenge("email", address, at: server)
            let opened = try await client.post("/auth/email/otp/verify", .object(again))
            #expect(opened["user"]["id"].string == person.uid, "\(opened.text)")
        }
    }

    @Test(arguments: ["7d", "0"])
    func `identities that were linked earlier, or prove the mailbox, stay`(quarantine: String) async throws {
        try await TestServer.with(
            application: "", providers: "scripted: {}\nphone: { enabled: true }\nother: { kind: scripted }",
            passwords: "\(TestServer.quickArgon2), quarantine: \(quarantine)"
        ) { server in
            let client = APIClient(server)
            let (person, old) = try await client.victim(at: server, of: "old")
            try await server.execute(
                "UPDATE identities SET created_at = now() - interval '8 days' WHERE id = $1",
                [.uuid(UUID(uuidString: old))])
            for (provider, email) in [("scripted", nil), ("other", person.email)] {
                let linked = try await client.link(
                    .somebody("new", email: email), bearer: person.accessToken, provider: provider)
                #expect(linked.status == 200, "\(linked.text)")
            }
            // An identity that was created long before the reset, but whose number has changed since.
            let code = try await client.challenge("phone", "+33612345678", at: server, bearer: person.accessToken)
            #expect(
                try await client.post("/auth/identities/phone", .object(code), bearer: person.accessToken).status == 200
            )
            try await server.execute(
                "UPDATE identities SET created_at = now() - interval '8 days' WHERE provider = 'phone'")
            let phone = try await client.identityID(of: "phone", bearer: person.accessToken)
            let asked = try await client.post(
                "/auth/identities/\(phone)/address", ["phone": "+33612345679"], bearer: person.accessToken)
            let body: JSONValue = [
                "challengeId": asked["challengeId"],
                "code": .string(try await client.sentCode(to: "+33612345679", at: server)),
            ]
            let changed = try await client.post(
                "/auth/identities/\(phone)/address/verify", body, bearer: person.accessToken)
            #expect(changed.status == 200 && changed["quarantined"] == false, "\(changed.text)")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)

            let held = try await client.identities(bearer: client.bearer(of: person)).filter {
                $0["quarantined"] == true
            }
            let expected: Set<String> = quarantine == "0" ? [] : ["new", "+33612345679"]
            #expect(Set(held.compactMap { $0["providerUid"].string }) == expected)
            #expect(try await client.present(.somebody("old"), to: "scripted")["user"]["id"].string == person.uid)
        }
    }

    @Test func `a mailbox whose address another account owns locks an intruder out, too`() async throws {
        try await TestServer.linking(application: "linking: { automatic: never }") { server, client in
            let ada = try await client.newcomer("ada", email: APIClient.newAddress())
            let code = try await client.challenge("email", ada.email, at: server)
            let person = try Person(
                try await client.post("/auth/email/otp/verify", .object(code)), email: ada.email, password: "")
            #expect(person.uid != ada.uid)
            #expect(try await client.link(.somebody("evil"), bearer: person.accessToken).status == 200)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)

            try expectQuarantined(try await client.present(.somebody("evil")))
            let bearer = try await client.bearer(of: person)
            let evil = try await client.identityID(of: "scripted", bearer: bearer)
            let removed = try await client.delete("/auth/identities/\(evil)", bearer: bearer)
            #expect(removed.status == 200, "\(removed.text)")
            #expect(try await client.get("/auth/me", bearer: bearer)["id"].string == person.uid)
        }
    }

    @Test func `identities of a merge count as linked at the merge`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            _ = try await client.newcomer("eve")
            try await server.age("identities", "created_at", by: "30 days")
            let merged = try await client.merge(
                client.ticket(.somebody("eve"), bearer: person.accessToken), bearer: person.accessToken,
                survivor: "current")
            #expect(merged.status == 200, "\(merged.text)")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            try expectQuarantined(try await client.present(.somebody("eve")))
        }
    }

    @Test func `identities of an undone merge count as linked when they were`() async throws {
        try await TestServer.linking { server, client in
            let (person, _) = try await client.victim(at: server, of: "old")
            _ = try await client.newcomer("eve")
            try await server.age("identities", "created_at", by: "30 days")
            try await server.execute("UPDATE identities SET joined_at = created_at WHERE provider_uid = 'old'")
            let merged = try await client.merge(
                client.ticket(.somebody("eve"), bearer: person.accessToken), bearer: person.accessToken)
            let id = try #require(merged["merge"]["id"].string, "\(merged.text)")
            #expect(try await client.post("/auth/merges/\(id)/undo", bearer: person.accessToken).status == 204)
            #expect(try await server.count("SELECT count(*) FROM identities WHERE joined_at = created_at") == 1)
            #expect(try await server.count("SELECT count(*) FROM identities WHERE joined_at IS NULL") == 2)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let back = try await client.present(.somebody("old"))
            #expect(back["user"]["id"].string == person.uid, "\(back.text)")
        }
    }

    @Test func `a quarantine locks no owner out`() async throws {
        try await TestServer.linking { server, client in
            let (person, _) = try await client.victim(at: server, of: "ada")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let bearer = try await client.bearer(of: person)
            let email = try await client.identityID(of: "email", bearer: bearer)
            expectError(
                try await client.delete("/auth/identities/\(email)", bearer: bearer), 409, "LAST_USABLE_IDENTITY")
            // Simulates that the application has disabled passwords since.
            let configuration = try Configuration.parse(
                TestServer.yaml(providers: "scripted: {}", email: "enabled: false"), file: "test.yaml",
                environment: ["DATABASE_URL": server.databaseURL], installed: TestServer.providers)
            try await server.server.take(over: configuration, sections: [.applications])
            let signedIn = try await client.present(.somebody("ada"))
            #expect(signedIn["user"]["id"].string == person.uid, "nothing else could sign in: \(signedIn.text)")
        }
    }

    @Test func `a sign-in that races with a reset leaves no session`() async throws {
        try await TestServer.linking { server, client in
            let (person, _) = try await client.victim(at: server, of: "eve")
            var reviews: Set<String> = []
            for _ in 1...5 {
                let token = try await client.forget(at: server, person.email)
                async let intruder = atOnce(8) { try await client.present(.somebody("eve")) }
                #expect(try await client.reset(token, to: APIClient.otherPassword).status == 204)
                for answer in try await intruder where answer.status != 200 { try expectQuarantined(answer) }
                #expect(try await server.liveSessions(of: person.uid) == 0)
                // Reads this reset's review link now, so that it is not mistaken for that of the next reset.
                reviews.insert(try await client.reviewToken(of: person.email, at: server, other: reviews))
                try await server.execute("UPDATE identities SET quarantined_at = NULL")
            }
        }
    }

    @Test func `a reset ends the account's pending flows`() async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            let (person, _) = try await client.victim(at: server, of: "eve")
            let (bearer, other) = (person.accessToken, try await client.newcomer("other"))
            _ = try await client.ticket(.somebody("other"), bearer: bearer)
            let email = try await client.identityID(of: "email", bearer: bearer)
            let calls: [(String, JSONValue)] = [
                ("/auth/identities/\(email)/address", ["email": .string(APIClient.newAddress())]),
                (
                    "/auth/identities/email",
                    ["email": .string(APIClient.newAddress()), "password": .string(APIClient.thirdPassword)]
                ),
                (
                    "/auth/identities/scripted/authorize",
                    [
                        "redirect_uri": "demo://oauth/callback",
                        "code_challenge": .string(CodeChallenge.s256(of: String(repeating: "v", count: 43))),
                    ]
                ),
                ("/auth/email/otp", ["email": .string(APIClient.newAddress())]),
            ]
            for (path, body) in calls {
                let answer = try await client.post(path, body, bearer: bearer)
                #expect((200...202).contains(answer.status), "\(path): \(answer.text)")
            }
            _ = try await client.ticket(.somebody("eve"), bearer: other.accessToken)
            let token = try await client.forget(at: server, person.email)
            let pending: StaticString = """
                SELECT (SELECT count(*) FROM proofs WHERE kind NOT IN ('password-reset', 'review'))
                     + (SELECT count(*) FROM registrations) + (SELECT count(*) FROM redirect_flows)
                """
            #expect(try await server.count(pending) == 7)
            #expect(try await client.reset(token, to: APIClient.otherPassword).status == 204)
            #expect(try await server.count(pending) == 0)
        }
    }

    @Test func `a reset sets every password of the account`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let address = APIClient.newAddress()
            _ = try await client.post(
                "/auth/identities/email",
                ["email": .string(address), "password": .string(APIClient.thirdPassword)], bearer: person.accessToken)
            let token = try await client.mailedToken(to: address, at: server)
            let linked = try await client.post(
                "/auth/verify-email", ["token": .string(token)], bearer: person.accessToken)
            #expect(linked.status == 200, "\(linked.text)")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            expectError(try await client.login(address, APIClient.thirdPassword), 401, "INVALID_CREDENTIALS")
            try expectQuarantined(try await client.login(address, APIClient.otherPassword))
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
        }
    }
}
