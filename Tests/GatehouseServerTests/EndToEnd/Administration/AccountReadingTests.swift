import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Looking at one account, masked and with a reason.
struct AccountReadingTests {
    @Test func `an account is described and masked`() async throws {
        try await TestServer.reading { server, client, key in
            let person = try await client.register(at: server)
            _ = try await client.patch(
                "/auth/me", ["displayName": "Grace Hopper", "metadata": ["rank": "admiral"]], bearer: person.accessToken
            )
            try await server.setAccess(["editor"], claims: ["plan": "pro"], of: person.uid)
            _ = try await client.login(person.email)
            let account = try await client.get("/admin/accounts/\(person.uid)", bearer: key)
            #expect(account.status == 200, "\(account.text)")
            let expected: [String: JSONValue] = [
                "uid": .string(person.uid), "status": "live", "displayName": "G•••",
                "email": .string(Mask.email(person.email)), "emailVerified": true, "phone": .null,
                "phoneVerified": false, "isAnonymous": false, "authProviders": ["email"], "roles": ["editor"],
                "claims": ["plan": "pro"], "metadata": ["rank": "•••"], "disabledAt": .null, "disabledUntil": .null,
                "deletedAt": .null, "purgeAfter": .null, "receipt": .null, "identities": 1, "usableIdentities": 1,
                "liveSessions": 2, "locks": [], "pending": [], "masked": ["displayName", "email", "metadata"],
            ]
            for (name, value) in expected { #expect(account[name] == value, "\(name): \(account[name])") }
            let times: Set = ["createdAt", "updatedAt", "lastSeenAt"]
            #expect(account.json.keys == Set(expected.keys).union(times))
            for time in times { #expect(account[time].string?.isEmpty == false, "\(time)") }
            for uid in [UUID().uuidString, "x"] {
                expectError(try await client.get("/admin/accounts/\(uid)", bearer: key), 404, "ACCOUNT_NOT_FOUND", uid)
            }
        }
    }

    @Test func `an alias leads to the survivor`() async throws {
        try await TestServer.reading { server, client, key in
            let ada = try await client.register(at: server)
            let eve = try await client.newcomer("eve")
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let own = try await client.get("/admin/accounts/\(ada.uid)", bearer: key)
            let alias = try await client.get("/admin/accounts/\(eve.uid)", bearer: key)
            #expect(own["alias"] == .null && alias["alias"] == true && alias["uid"].string == ada.uid)
            for path in ["sessions", "identities", "merges"] {
                let lists = try await [ada.uid, eve.uid].asyncMap {
                    try await client.get("/admin/accounts/\($0)/\(path)", bearer: key)
                }
                #expect(lists[0]["items"] == lists[1]["items"] && lists[0]["items"].array?.isEmpty == false, "\(path)")
            }
            let merges = try await client.get("/admin/accounts/\(ada.uid)/merges", bearer: key)
            #expect(merges["items"].array?.first?["id"] == merged["merge"]["id"] && merges["next"] == .null)
            let revealed = try await client.reveal(["email"], of: eve.uid, key: key)
            #expect(revealed["email"].string == ada.email)
        }
    }

    @Test func `a deletion, locks and what is pending are shown`() async throws {
        try await TestServer.reading { server, client, key in
            let person = try await client.register(at: server)
            for _ in 1...10 { _ = try await client.login(person.email, "wrong password") }
            _ = try await client.post("/auth/forgot-password", ["email": .string(person.email)])
            let locked = try await client.get("/admin/accounts/\(person.uid)", bearer: key)
            let locks = locked["locks"].array ?? []
            #expect(locks.map { $0["kind"] } == ["password"] && locks.first?["name"] == "email", "\(locked.text)")
            #expect(locks.first?["until"].string != nil)
            try await eventually("the reset is pending") {
                let pending = try await client.get("/admin/accounts/\(person.uid)", bearer: key)["pending"].array
                return pending?.contains { $0["kind"] == "password-reset" && $0["until"].string != nil } == true
            }
            _ = try await client.post("/auth/email/otp", ["email": .string(person.email)])
            let asked = try await client.get("/admin/accounts/\(person.uid)", bearer: key)
            #expect(asked["pending"].array?.contains { $0["kind"] == "code" } == true, "\(asked.text)")
            try await server.execute(
                """
                INSERT INTO code_guesses (application_id, subject, wrong)
                SELECT application_id, sha256(convert_to(kind || ':' || address, 'UTF8')), 500 FROM addresses
                """)
            let guessed = try await client.get("/admin/accounts/\(person.uid)", bearer: key)
            #expect(guessed["locks"].array?.contains { $0["kind"] == "code" && $0["name"] == "email" } == true)

            #expect(try await client.delete("/auth/account", bearer: person.accessToken).status / 100 == 2)
            let deleted = try await client.get("/admin/accounts/\(person.uid)", bearer: key)
            let receipt = try await server.text("SELECT receipt::text FROM erasures")
            #expect(deleted["status"] == "deleted" && deleted["receipt"].string == receipt, "\(deleted.text)")
            #expect(deleted["deletedAt"].string != nil && deleted["purgeAfter"].string != nil)
            #expect(deleted["liveSessions"] == 0)
        }
    }

    @Test func `only what is asked for is revealed, with a reason, and recorded`() async throws {
        try await TestServer.reading { server, client, key in
            let person = try await client.register(at: server)
            _ = try await client.patch(
                "/auth/me", ["displayName": "Grace Hopper", "metadata": ["rank": "admiral"]], bearer: person.accessToken
            )
            let pseudonym = try await server.pseudonym(of: person.uid)
            let events = try await server.audited {
                let some = try await client.reveal(["email", "phone"], of: person.uid, key: key)
                #expect(some.json == ["email": .string(person.email), "phone": .null], "\(some.text)")
                let others = try await client.reveal(
                    ["displayName", "metadata", "identities", "sessions"], of: person.uid, key: key)
                #expect(others.json.keys == ["displayName", "metadata", "identities", "sessions"])
                #expect(others["displayName"] == "Grace Hopper" && others["metadata"] == ["rank": "admiral"])
                #expect(others["identities"].array?.first?["providerUid"].string == person.email)
                #expect(others["sessions"].array?.first?["address"] == "127.0.0.1")
            }
            let details: [String: JSONValue] = [
                "actor": ["key": .string(String(key.dropFirst(4).prefix(16)))], "reason": APIClient.reason,
            ]
            let fields: [JSONValue] = [["email", "phone"], ["displayName", "identities", "metadata", "sessions"]]
            #expect(
                events
                    == fields.map { fields in
                        .init(
                            event: "account.revealed",
                            details: .object(details.merging(["fields": fields]) { $1 }), account: pseudonym)
                    })
        }
    }

    @Test func `a reveal needs its scope, fields and a reason`() async throws {
        try await TestServer.reading(rateLimits: "{ adminReveal: 2/h, register: 100/min }") { server, client, key in
            let person = try await client.register(at: server)
            let reader = try await server.serviceKey([.readAccounts])
            expectError(try await client.reveal(["email"], of: person.uid, key: reader), 403, "FORBIDDEN")
            let path = "/admin/accounts/\(person.uid)/reveal"
            for (body, code) in [
                (["fields": ["email"]], "MISSING_PARAMETER"), (["reason": APIClient.reason], "MISSING_PARAMETER"),
                (["fields": ["secrets"], "reason": APIClient.reason], "INVALID_PARAMETER"),
                (["fields": ["email"], "reason": ["code": "curious"]], "INVALID_PARAMETER"),
            ] as [(JSONValue, String)] {
                expectError(try await client.post(path, body, bearer: key), 400, code, "\(body)")
            }
            let empty = try await client.reveal([], of: person.uid, key: key)
            expectError(empty, 400, "MISSING_PARAMETER", "no fields")
            #expect(try await client.reveal(["email"], of: person.uid, key: key).status == 200)
            expectError(try await client.reveal(["email"], of: person.uid, key: key), 429, "RATE_LIMITED")
        }
    }

    @Test func `nothing but a reveal shows a value about a person`() async throws {
        try await TestServer.reading { server, client, key in
            let (name, number, subject) = ("Wilhelmina Featherstone", "+33612345678", "subject-4711-of-scripted")
            let person = try await client.register(at: server)
            _ = try await client.patch(
                "/auth/me", ["displayName": .string(name), "metadata": ["street": "Elm Street 1"]],
                bearer: person.accessToken)
            #expect(try await client.link(.somebody(subject), bearer: person.accessToken).status == 200)
            let code = try await client.challenge("phone", number, at: server, bearer: person.accessToken)
            #expect(
                try await client.post("/auth/identities/phone", .object(code), bearer: person.accessToken).status == 200
            )
            let claimed = APIClient.newAddress()
            _ = try await client.present(.somebody(email: claimed, isVerified: false), to: "scripted")
            let pending = APIClient.newAddress()
            _ = try await client.pend(at: server, pending)

            let path = "/admin/accounts/\(person.uid)"
            var answers = try await [
                "/admin/accounts", path, path + "/sessions", path + "/identities", path + "/merges",
            ]
            .asyncMap { try await client.get($0, bearer: key) }
            for criterion in [
                ["email": .string(person.email)], ["phone": .string(number)], ["email": .string(claimed)],
                ["email": .string(pending)], ["providerUid": .string(subject), "provider": "scripted"],
                ["emailPrefix": .string(String(person.email.prefix(5)))], ["namePrefix": "wil"],
                ["phonePrefix": "+3361"], ["uid": .string(person.uid)],
            ] as [JSONValue] {
                let answer = try await client.search(criterion, key: key)
                #expect(answer["items"].array?.isEmpty == false, "\(criterion)")
                answers.append(answer)
            }
            let secrets = [
                person.email, claimed, pending, number, String(number.dropFirst()), subject, name, "Featherstone",
                "Elm Street", "127.0.0.1",
            ]
            for answer in answers {
                #expect(answer.status == 200)
                for secret in secrets { #expect(!answer.text.contains(secret), "\(secret) in \(answer.text)") }
            }
        }
    }

    @Test func `sessions and identities are listed as their owner sees them`() async throws {
        try await TestServer.reading { server, client, key in
            let person = try await client.register(at: server)
            for _ in 1...3 { _ = try await client.login(person.email) }
            for (path, name) in [("/auth/sessions", "sessions"), ("/auth/identities", "identities")] {
                let own = try await client.get(path, bearer: person.accessToken)[name].array ?? []
                let parts = try await client.parts(
                    of: "/admin/accounts/\(person.uid)/\(name)", limit: 3, key: key)
                let seen = parts.flatMap { $0 }
                #expect(seen.map { $0["id"] } == own.map { $0["id"] } && parts.allSatisfy { $0.count <= 3 }, "\(seen)")
                for (mine, theirs) in zip(own, seen) {
                    #expect(mine.keys.isSubset(of: theirs.keys) && theirs["current"] == false, "\(theirs)")
                    for same in ["createdAt", "kind", "provider", "emailVerified"] {
                        #expect(mine[same] == theirs[same], "\(same)")
                    }
                }
            }
            let sessions = try await client.get("/admin/accounts/\(person.uid)/sessions", bearer: key)
            #expect(sessions["items"].array?.allSatisfy { $0["address"] == "127.0.0.0/16" } == true)
        }
    }
}

extension [String] {
    fileprivate func asyncMap<Output>(_ body: (String) async throws -> Output) async throws -> [Output] {
        var results: [Output] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
