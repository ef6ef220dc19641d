import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Merging two accounts of one person, and undoing the merge.
struct MergeTests {
    @Test func `the older account survives, and has everything`() async throws {
        try await TestServer.linking { server, client in
            let ada = try await client.register(at: server)
            let eve = try await client.newcomer("eve", email: APIClient.newAddress())
            _ = try await client.patch(
                "/auth/me", ["displayName": "Ada", "metadata": ["theme": "dark", "a": 1]], bearer: ada.accessToken)
            _ = try await client.patch(
                "/auth/me", ["displayName": "Eve", "metadata": ["theme": "light", "b": 2]], bearer: eve.accessToken)
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let plan = try await client.merge(ticket, bearer: ada.accessToken, dryRun: true)
            #expect(plan.status == 200, "\(plan.text)")
            #expect(plan["survivor"].string == ada.uid && plan["absorbed"].string == eve.uid)
            #expect(plan["moves"]["identities"].array?.map { $0["providerUid"] } == ["eve"])
            #expect(plan["collisions"] == ["displayName", "metadata.theme"])
            #expect(plan["drops"].array?.contains { $0["kind"] == "sessions" && $0["count"] == 1 } == true)

            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            #expect(merged.status == 200, "\(merged.text)")
            #expect(merged["user"]["id"].string == ada.uid && merged["user"]["authProviders"] == ["email", "scripted"])
            #expect(merged["user"]["displayName"] == "Ada")
            #expect(merged["user"]["metadata"] == ["theme": "dark", "a": 1, "b": 2])
            #expect(merged["merge"]["survivor"].string == ada.uid && merged["merge"]["absorbed"].string == eve.uid)
            #expect(merged["merge"]["undoUntil"].string != nil && merged["merge"]["id"].string != nil)
            expectError(try await client.get("/auth/me", bearer: eve.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.refresh(eve.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            #expect(try await client.get("/auth/me", bearer: ada.accessToken).status == 200)
            #expect(try await client.present(.somebody("eve"))["user"]["id"].string == ada.uid)
            expectError(try await client.merge(ticket, bearer: ada.accessToken), 401, "INVALID_TOKEN", "again")
            for (address, count) in [(ada.email, 2), (eve.email, 1)] {
                let mails = try await client.mails(to: address, at: server, count: count)
                #expect(mails.contains { $0.subject?.contains("are one now") == true }, "\(mails.map(\.subject))")
            }
            let listed = try await client.get("/auth/merges", bearer: ada.accessToken)
            #expect(listed["merges"].array?.map { $0["id"] } == [merged["merge"]["id"]], "\(listed.text)")
        }
    }

    @Test func `undoing gives both back as they were`() async throws {
        try await TestServer.linking { server, client in
            let ada = try await client.register(at: server)
            let eve = try await client.newcomer("eve", email: APIClient.newAddress())
            _ = try await client.patch("/auth/me", ["metadata": ["a": 1]], bearer: ada.accessToken)
            _ = try await client.patch(
                "/auth/me", ["displayName": "Eve", "metadata": ["b": 2]], bearer: eve.accessToken)
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let (id, bearer) = (merged["merge"]["id"].string ?? "", merged["accessToken"].string ?? "")
            #expect(merged["user"]["displayName"] == "Eve", "\(merged.text)")
            let opened = try Person(try await client.present(.somebody("eve")), email: "", password: "")
            #expect(opened.uid == ada.uid)

            #expect(try await client.post("/auth/merges/\(id)/undo", bearer: bearer).status == 204)
            let me = try await client.get("/auth/me", bearer: bearer)
            #expect(me.status == 200, "the session that asked goes on: \(me.text)")
            #expect(me["displayName"] == .null && me["metadata"] == ["a": 1] && me["authProviders"] == ["email"])
            expectError(
                try await client.get("/auth/me", bearer: opened.accessToken), 401, "INVALID_TOKEN",
                "what eve's identity opened here")
            let back = try await client.present(.somebody("eve"))
            #expect(back["user"]["id"].string == eve.uid && back["user"]["displayName"] == "Eve", "\(back.text)")
            #expect(back["user"]["email"].string == eve.email && back["user"]["metadata"] == ["b": 2])
            expectError(try await client.post("/auth/merges/\(id)/undo", bearer: bearer), 404, "NOT_FOUND", "again")
        }
    }

    @Test func `of twenty undos at once, one undoes the merge`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let (id, bearer) = (merged["merge"]["id"].string ?? "", merged["accessToken"].string ?? "")
            let answers = try await atOnce(20) { try await client.post("/auth/merges/\(id)/undo", bearer: bearer) }
            #expect(answers.count { $0.status == 204 } == 1, "\(answers.map(\.text))")
            #expect(answers.count { $0.code == "NOT_FOUND" } == 19, "\(answers.map(\.text))")
            #expect(try await client.present(.somebody("eve"))["user"]["id"].string == eve.uid)
        }
    }

    @Test func `undoing is possible only for a limited time, and only for the owner`() async throws {
        try await TestServer.linking(application: "linking: { undoWindow: 1h }") { server, client in
            let (ada, eve, other) = (
                try await client.newcomer("ada"), try await client.newcomer("eve"), try await client.newcomer("other")
            )
            _ = eve
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let id = merged["merge"]["id"].string ?? ""
            expectError(
                try await client.post("/auth/merges/\(id)/undo", bearer: other.accessToken), 404, "NOT_FOUND", "other")
            try await server.execute("UPDATE merges SET undo_until = now()")
            expectError(
                try await client.post("/auth/merges/\(id)/undo", bearer: ada.accessToken), 404, "NOT_FOUND", "late")
        }
    }

    @Test func `undoing is refused if it leaves the survivor no way to sign in`() async throws {
        try await TestServer.linking { server, client in
            let (ada, _) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let eve = try Person(try await client.present(.somebody("eve")), email: "", password: "")
            let id =
                merged["auth"]["providerUid"] == "ada"
                ? try await client.identityID(of: "scripted", bearer: ada.accessToken) : ""
            #expect(try await client.delete("/auth/identities/\(id)", bearer: eve.accessToken).status == 200)
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            expectError(try await client.post(undo, bearer: eve.accessToken), 409, "LAST_USABLE_IDENTITY")
        }
    }

    @Test func `undoing is refused if it leaves the absorbed account no way to sign in`() async throws {
        try await TestServer.linking { server, client in
            let (ada, _) = (try await client.register(at: server), try await client.newcomer("eve"))
            let merged = try await client.merge(
                client.ticket(.somebody("eve"), bearer: ada.accessToken), bearer: ada.accessToken)
            let id = try await client.identityID(of: "scripted", bearer: ada.accessToken)
            #expect(try await client.delete("/auth/identities/\(id)", bearer: ada.accessToken).status == 200)
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            expectError(try await client.post(undo, bearer: ada.accessToken), 409, "LAST_USABLE_IDENTITY")
            #expect(try await client.get("/auth/me", bearer: ada.accessToken).status == 200, "nothing has changed")
        }
    }

    @Test func `an address returns to the account that proved it, and no other account shows it`() async throws {
        try await TestServer.linking { server, client in
            let address = APIClient.newAddress()
            let (ada, eve) = (
                try await client.register(at: server), try await client.newcomer("eve", email: address)
            )
            let merged = try await client.merge(
                client.ticket(.somebody("eve"), bearer: ada.accessToken), bearer: ada.accessToken)
            let joined = try await client.present(.somebody("third", email: address))
            #expect(joined["user"]["id"].string == ada.uid, "\(joined.text)")
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            #expect(try await client.post(undo, bearer: ada.accessToken).status == 204)
            let shown = try await client.identities(bearer: ada.accessToken)
            #expect(shown.map { $0["provider"] } == ["email"], "\(shown)")
            for name in ["eve", "third"] {
                let back = try await client.present(.somebody(name, email: address))
                #expect(back["user"]["id"].string == eve.uid && back["user"]["email"].string == address, "\(back.text)")
            }
        }
    }

    @Test func `an identity that took an address of the absorbed account leaves without its password`() async throws {
        try await TestServer.linking { server, client in
            let ada = try await client.register(at: server)
            _ = try await client.link(.somebody("ada"), bearer: ada.accessToken)
            let eve = try await client.newcomer("eve", email: APIClient.newAddress())
            let merged = try await client.merge(
                client.ticket(.somebody("eve"), bearer: ada.accessToken), bearer: ada.accessToken)
            let path = try await "/auth/identities/\(client.identityID(of: "email", bearer: ada.accessToken))/address"
            let asked = try await client.post(path, ["email": .string(eve.email)], bearer: ada.accessToken)
            let code = try await client.sentCode(to: eve.email, at: server)
            let proof: JSONValue = ["challengeId": asked["challengeId"], "code": .string(code)]
            #expect(try await client.post("\(path)/verify", proof, bearer: ada.accessToken).status == 200)
            let other = try Person(try await client.present(.somebody("ada")), email: "", password: "")
            #expect(other.uid == ada.uid)
            _ = try await client.newcomer("later")
            let later = try await client.ticket(.somebody("later"), bearer: other.accessToken)
            #expect(try await client.merge(later, bearer: other.accessToken).status == 200)
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            #expect(try await client.post(undo, bearer: other.accessToken).status == 204)

            expectError(try await client.login(eve.email), 401, "INVALID_CREDENTIALS", "ada's password")
            #expect(try await client.resetPassword(of: eve.email, at: server).status == 204)
            #expect(try await client.login(eve.email, APIClient.otherPassword)["user"]["id"].string == eve.uid)
            #expect(try await client.get("/auth/me", bearer: other.accessToken).status == 200)
        }
    }

    @Test(arguments: ["change", "other mailbox", "new mailbox", "own mailbox"])
    func `a password set since the merge opens the absorbed account only if its mailbox set it`(
        by way: String
    ) async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.register(at: server), try await client.register(at: server))
            _ = try await client.link(.somebody("eve"), bearer: eve.accessToken)
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            var (bearer, email) = (ada.accessToken, eve.email)
            if way == "new mailbox" {
                let identities = try await client.identities(bearer: bearer)
                let id = identities.first { $0["email"].string == email }?["id"].string
                email = try await client.changeAddress(of: id ?? "", bearer: bearer, at: server)
            }
            if way == "change" {
                let change: JSONValue = ["password": .string(APIClient.otherPassword)]
                #expect(try await client.put("/auth/change-password", change, bearer: bearer).status == 204)
            } else {
                let mailbox = way == "other mailbox" ? ada.email : email
                #expect(try await client.resetPassword(of: mailbox, at: server).status == 204)
                bearer = try #require(
                    try await client.login(mailbox, APIClient.otherPassword)["accessToken"].string)
            }
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            #expect(try await client.post(undo, bearer: bearer).status == 204)

            let login = try await client.login(email, APIClient.otherPassword)
            guard way == "own mailbox" else { return expectError(login, 401, "INVALID_CREDENTIALS") }
            #expect(login["user"]["id"].string == eve.uid, "\(login.text)")
        }
    }

    @Test func `a password that the other side has set, and its sessions, end with the merge`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.register(at: server), try await client.register(at: server))
            for (name, person) in [("ada", ada), ("eve", eve)] {
                _ = try await client.link(.somebody(name), bearer: person.accessToken)
            }
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let other = try await client.present(.somebody("eve"))["accessToken"].string ?? ""
            let change: JSONValue = ["password": .string(APIClient.otherPassword)]
            #expect(try await client.put("/auth/change-password", change, bearer: other).status == 204)
            let login = try await client.login(ada.email, APIClient.otherPassword)
            #expect(login["user"]["id"].string == ada.uid, "\(login.text)")
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            let bearer = try await client.present(.somebody("ada"))["accessToken"].string ?? ""
            #expect(try await client.post(undo, bearer: bearer).status == 204)

            expectError(try await client.login(ada.email, APIClient.otherPassword), 401, "INVALID_CREDENTIALS")
            expectError(
                try await client.get("/auth/me", bearer: login["accessToken"].string ?? ""), 401, "INVALID_TOKEN")
            #expect(try await client.get("/auth/me", bearer: bearer).status == 200)
        }
    }

    @Test func `an undo leaves the password that a later merge has brought`() async throws {
        try await TestServer.linking { server, client in
            let ada = try await client.register(at: server)
            func merge(_ name: String) async throws -> (person: Person, undo: String) {
                let person = try await client.register(at: server)
                _ = try await client.link(.somebody(name), bearer: person.accessToken)
                let ticket = try await client.ticket(.somebody(name), bearer: ada.accessToken)
                let merged = try await client.merge(ticket, bearer: ada.accessToken)
                return (person, "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo")
            }
            let first = try await merge("eve")
            let second = try await merge("third")
            #expect(try await client.post(first.undo, bearer: ada.accessToken).status == 204)
            let login = try await client.login(second.person.email, second.person.password)
            #expect(login["user"]["id"].string == ada.uid, "\(login.text)")
        }
    }

    @Test func `an undo leaves alone what a later merge has brought`() async throws {
        try await TestServer.linking { server, client in
            let ada = try await client.register(at: server)
            let address = APIClient.newAddress()
            let eve = try await client.newcomer("eve", email: address)
            func merge(_ name: String) async throws -> String {
                let merged = try await client.merge(
                    client.ticket(.somebody(name), bearer: ada.accessToken), bearer: ada.accessToken)
                return "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            }
            let first = try await merge("eve")
            try await server.execute("DELETE FROM addresses WHERE address = $1", [.text(address)])
            let third = try await client.newcomer("third", email: address)
            let second = try await merge("third")
            for undo in [first, second] { #expect(try await client.post(undo, bearer: ada.accessToken).status == 204) }
            for (name, person) in [("eve", eve), ("third", third)] {
                #expect(try await client.present(.somebody(name))["user"]["id"].string == person.uid)
            }
        }
    }

    @Test func `the other account survives on request`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken, survivor: "other")
            #expect(merged["user"]["id"].string == eve.uid, "\(merged.text)")
            expectError(try await client.get("/auth/me", bearer: ada.accessToken), 401, "INVALID_TOKEN")
            #expect(try await client.present(.somebody("ada"))["user"]["id"].string == eve.uid)
        }
    }

    @Test func `a guest chosen as survivor has one session, and is a guest again after undoing`() async throws {
        try await TestServer.linking { server, client in
            let (ada, guest) = (try await client.newcomer("ada"), try await client.guest())
            let ticket = try await client.ticket(.somebody("ada"), bearer: guest.accessToken)
            let merged = try await client.merge(ticket, bearer: guest.accessToken, survivor: "current")
            #expect(
                merged["user"]["id"].string == guest.uid && merged["user"]["isAnonymous"] == false, "\(merged.text)")
            expectError(try await client.get("/auth/me", bearer: guest.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            #expect(try await server.liveSessions(of: guest.uid) == 1)
            let bearer = merged["accessToken"].string ?? ""
            #expect(try await client.present(.somebody("ada"))["user"]["id"].string == guest.uid)
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            let undone = try await client.post(undo, bearer: bearer)
            #expect(undone.status == 204, "\(undone.text)")
            #expect(try await client.get("/auth/me", bearer: bearer)["isAnonymous"] == true)
            #expect(try await client.present(.somebody("ada"))["user"]["id"].string == ada.uid)
        }
    }

    @Test func `a guest that survived a merge and then linked an identity is no guest after undoing`() async throws {
        try await TestServer.linking { server, client in
            let (ada, guest) = (try await client.newcomer("ada"), try await client.guest())
            let ticket = try await client.ticket(.somebody("ada"), bearer: guest.accessToken)
            let merged = try await client.merge(ticket, bearer: guest.accessToken, survivor: "current")
            let bearer = merged["accessToken"].string ?? ""
            #expect(try await client.link(.somebody("eve"), bearer: bearer).status == 200)
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            #expect(try await client.post(undo, bearer: bearer).status == 204)
            for (subject, uid) in [("ada", ada.uid), ("eve", guest.uid)] {
                let person = try await client.present(.somebody(subject))
                #expect(person["user"]["id"].string == uid && person["user"]["isAnonymous"] == false, "\(person.text)")
                let listed = try await client.get("/auth/identities", bearer: person["accessToken"].string ?? "")
                #expect(listed["identities"].array?.count == 1, "\(listed.text)")
            }
        }
    }

    @Test func `a ticket works once, in its session, for five minutes, even after re-authenticating`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let second = try Person(try await client.present(.somebody("ada")), email: "", password: "")
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            for (bearer, about) in [(second.accessToken, "another session"), (eve.accessToken, "another account")] {
                expectError(try await client.merge(ticket, bearer: bearer), 401, "INVALID_TOKEN", about)
            }
            let late = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            try await server.execute(
                "UPDATE proofs SET expires_at = now() WHERE kind = 'merge' AND created_at = (SELECT max(created_at) FROM proofs)"
            )
            expectError(try await client.merge(late, bearer: ada.accessToken), 401, "INVALID_TOKEN", "late")
            let fresh = try await client.reauthenticate(.somebody("ada"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: fresh["accessToken"].string ?? "")
            #expect(merged.status == 200, "\(merged.text)")
        }
    }

    @Test func `only one of twenty concurrent merges with one ticket succeeds`() async throws {
        try await TestServer.linking { server, client in
            let (ada, _) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let answers = try await atOnce(20) { try await client.merge(ticket, bearer: ada.accessToken) }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 19, "\(answers.map(\.text))")
        }
    }

    @Test func `two accounts that merge each other at once become one`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let one = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let two = try await client.ticket(.somebody("ada"), bearer: eve.accessToken)
            async let first = client.merge(one, bearer: ada.accessToken)
            async let second = client.merge(two, bearer: eve.accessToken)
            let answers = try await [first, second]
            #expect(answers.count { $0.status == 200 } == 1, "\(answers.map(\.text))")
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 1)
            #expect(try await server.count("SELECT count(*) FROM accounts WHERE absorbed_by IS NULL") == 1)
        }
    }
}

/// Changes between a merge and its undoing, and merge tokens with an expired proof.
struct MergeAftermathTests {
    @Test func `a ticket ends with the identity that it proved and with the other account's sessions`() async throws {
        try await TestServer.linking { server, client in
            let mallory = try await client.newcomer("mallory")
            let victim = try await client.register(at: server)
            func ticket() async throws -> String {
                let code = try await client.challenge("email", victim.email, at: server, bearer: mallory.accessToken)
                let refused = try await client.post(
                    "/auth/identities/email", .object(code), bearer: mallory.accessToken)
                expectError(refused, 409, "IDENTITY_IN_USE")
                return refused.json["error"]["details"]["mergeToken"].string ?? ""
            }
            let first = try await ticket()
            #expect(
                try await client.reset(client.forget(at: server, victim.email), to: APIClient.otherPassword).status
                    == 204)
            expectError(
                try await client.merge(first, bearer: mallory.accessToken), 401, "INVALID_TOKEN", "after a reset")

            let again = try Person(
                try await client.login(victim.email, APIClient.otherPassword), email: "", password: "")
            _ = try await client.link(.somebody("ada"), bearer: again.accessToken)
            try await server.age("proofs", "created_at", by: "2 minutes", where: "kind = 'code'")
            let second = try await ticket()
            let id = try await client.identityID(of: "email", bearer: again.accessToken)
            let ada = try Person(try await client.present(.somebody("ada")), email: "", password: "")
            #expect(try await client.delete("/auth/identities/\(id)", bearer: ada.accessToken).status == 200)
            expectError(
                try await client.merge(second, bearer: mallory.accessToken), 401, "INVALID_TOKEN", "after an unlink")
        }
    }

    @Test func `an address is removed with the identity that shows it`() async throws {
        try await TestServer.linking { server, client in
            let ada = try await client.newcomer("ada")
            let eve = try await client.register(at: server)
            let code = try await client.challenge("email", eve.email, at: server, bearer: ada.accessToken)
            let refused = try await client.post("/auth/identities/email", .object(code), bearer: ada.accessToken)
            let merged = try await client.merge(
                refused.json["error"]["details"]["mergeToken"].string ?? "", bearer: ada.accessToken)
            #expect(merged["user"]["id"].string == ada.uid, "\(merged.text)")
            let bearer = merged["accessToken"].string ?? ""
            let id = try await client.identityID(of: "email", bearer: bearer)
            let address = APIClient.newAddress()
            let asked = try await client.post(
                "/auth/identities/\(id)/address", ["email": .string(address)], bearer: bearer)
            let sent = try await client.sentCode(to: address, at: server)
            let changed = try await client.post(
                "/auth/identities/\(id)/address/verify", ["challengeId": asked["challengeId"], "code": .string(sent)],
                bearer: bearer)
            #expect(changed.status == 200, "\(changed.text)")
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            #expect(try await client.post(undo, bearer: bearer).status == 204)
            let back = try await client.present(.somebody("google", email: address))
            #expect(back["user"]["id"].string == eve.uid, "its new address is eve's: \(back.text)")
            #expect(try await client.get("/auth/me", bearer: bearer)["email"] == .null)
        }
    }

    @Test func `a mailbox that goes back to the absorbed account no longer opens the survivor`() async throws {
        try await TestServer.linking { server, client in
            let ada = try await client.register(at: server)
            let eve = try await client.newcomer("eve", email: APIClient.newAddress())
            let merged = try await client.merge(
                client.ticket(.somebody("eve"), bearer: ada.accessToken), bearer: ada.accessToken)
            func signIn() async throws -> Person {
                let code = try await client.challenge("email", eve.email, at: server)
                return try Person(
                    try await client.post("/auth/email/otp/verify", .object(code)), email: eve.email, password: "")
            }
            let reader = try await signIn()
            #expect(reader.uid == ada.uid)
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            #expect(try await client.post(undo, bearer: ada.accessToken).status == 204)

            expectError(try await client.get("/auth/me", bearer: reader.accessToken), 401, "INVALID_TOKEN")
            #expect(try await client.identities(bearer: ada.accessToken).count == 1)
            let back = try await signIn()
            #expect(back.uid == eve.uid)
            #expect(try await client.identities(bearer: back.accessToken).allSatisfy { $0["emailVerified"] == true })
            #expect(try await client.resetPassword(of: eve.email, at: server).status == 204)
            #expect(try await client.login(eve.email, APIClient.otherPassword)["user"]["id"].string == eve.uid)
            #expect(try await client.get("/auth/me", bearer: ada.accessToken).status == 200)
            #expect(try await client.login(ada.email)["user"]["id"].string == ada.uid)
        }
    }

    @Test func `an account without a way to sign in is not restored`() async throws {
        try await TestServer.linking { server, client in
            let (ada, _) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let ids = try await client.identities(bearer: ada.accessToken)
            let id = try #require(ids.first { $0["providerUid"] == "eve" }?["id"].string)
            #expect(try await client.delete("/auth/identities/\(id)", bearer: ada.accessToken).status == 200)
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            expectError(try await client.post(undo, bearer: ada.accessToken), 409, "LAST_USABLE_IDENTITY")
        }
    }

    @Test func `a guest that was absorbed has its sessions again, on every replica`() async throws {
        try await TestServer.linking { server, client in
            let (ada, guest) = (try await client.newcomer("ada"), try await client.guest())
            _ = try await client.patch("/auth/me", ["metadata": ["score": 7]], bearer: guest.accessToken)
            #expect(
                try await client.link(.somebody("ada"), bearer: guest.accessToken, onConflict: "merge").status == 200)
            expectError(try await client.get("/auth/me", bearer: guest.accessToken), 401, "INVALID_TOKEN")
            let merges = try await client.get("/auth/merges", bearer: ada.accessToken)
            let id = try #require(merges["merges"].array?.first?["id"].string)
            #expect(try await client.post("/auth/merges/\(id)/undo", bearer: ada.accessToken).status == 204)
            _ = try await eventually("the guest is back") {
                try await client.get("/auth/me", bearer: guest.accessToken)["metadata"] == ["score": 7]
            }
            #expect(try await client.refresh(guest.refreshToken).status == 200)
            #expect(try await client.get("/auth/me", bearer: ada.accessToken)["metadata"] == [:])
        }
    }

    @Test func `a surviving guest keeps the session that the merge answered with`() async throws {
        try await TestServer.linking { server, client in
            let (_, guest) = (try await client.newcomer("ada"), try await client.guest())
            let ticket = try await client.ticket(.somebody("ada"), bearer: guest.accessToken)
            let merged = try await client.merge(ticket, bearer: guest.accessToken, survivor: "current")
            let bearer = merged["accessToken"].string ?? ""
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            #expect(try await client.post(undo, bearer: bearer).status == 204)
            #expect(try await client.get("/auth/me", bearer: bearer)["isAnonymous"] == true)
        }
    }
}
