import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Searching for accounts by one criterion.
struct AccountSearchTests {
    @Test func `each criterion finds the account, and says which it was`() async throws {
        try await TestServer.reading { server, client, key in
            let person = try await client.register(at: server)
            _ = try await client.register(at: server)
            let identity = try await client.identityID(of: "email", bearer: person.accessToken)
            let sessions = try await client.get("/auth/sessions", bearer: person.accessToken)
            let session = try #require(sessions["sessions"].array?.first?["id"].string)
            let criteria: [(JSONValue, String)] = [
                (["uid": .string(person.uid)], "uid"), (["email": .string(person.email.uppercased())], "address"),
                (["identity": .string(identity)], "identity"), (["session": .string(session)], "session"),
                (["providerUid": .string(person.email), "provider": "email"], "providerUid"),
            ]
            for (criterion, match) in criteria {
                let found = try await client.found(criterion, key: key)
                #expect(found.map { $0["uid"].string } == [person.uid], "\(criterion)")
                #expect(found.first?["matchedBy"].string == match && found.first?["status"] == "live", "\(criterion)")
            }
            for (criterion, _) in criteria {
                let name = try #require(criterion.object?.keys.first { $0 != "provider" })
                var other = try #require(criterion.object)
                other[name] = name == "email" || name == "providerUid" ? "x@example.com" : .string(UUID().uuidString)
                #expect(try await client.found(.object(other), key: key) == [], "\(other)")
            }
        }
    }

    @Test func `a phone number and the receipt of a deletion find their accounts`() async throws {
        try await TestServer.reading { server, client, key in
            let number = "+33612345678"
            let code = try await client.challenge("phone", number, at: server)
            let person = try Person(
                try await client.post("/auth/phone/otp/verify", .object(code)), email: "", password: "")
            let found = try await client.found(["phone": .string(number)], key: key)
            #expect(found.map { $0["uid"].string } == [person.uid] && found.first?["matchedBy"] == "address")
            #expect(found.first?["phone"] == "+33•••78" && found.first?["phoneVerified"] == true)

            #expect(try await client.delete("/auth/account", bearer: person.accessToken).status / 100 == 2)
            let receipt = try #require(try await server.text("SELECT receipt::text FROM erasures"))
            let deleted = try await client.found(["receipt": .string(receipt)], key: key)
            #expect(deleted.map { $0["uid"].string } == [person.uid] && deleted.first?["matchedBy"] == "receipt")
            #expect(deleted.first?["status"] == "deleted" && deleted.first?["purgeAfter"].string != nil)
        }
    }

    @Test func `a merge and the uid of an absorbed account find the survivor`() async throws {
        try await TestServer.reading { server, client, key in
            let ada = try await client.register(at: server)
            let eve = try await client.newcomer("eve", email: APIClient.newAddress())
            let session = try #require(
                try await client.get("/auth/sessions", bearer: eve.accessToken)["sessions"].array?.first?["id"])
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let merge = merged["merge"]["id"]
            for (criterion, match) in [
                (["uid": .string(eve.uid)], "alias"), (["merge": merge], "merge"), (["session": session], "session"),
            ] as [(JSONValue, String)] {
                let found = try await client.found(criterion, key: key)
                #expect(found.map { $0["uid"].string } == [ada.uid], "\(criterion)")
                #expect(found.first?["matchedBy"].string == match, "\(criterion)")
            }
            let bearer = merged["accessToken"].string ?? ""
            #expect(try await client.post("/auth/merges/\(merge.string ?? "")/undo", bearer: bearer).status == 204)
            let both = try await client.found(["merge": merge], key: key)
            #expect(Set(both.map { $0["uid"].string }) == [ada.uid, eve.uid])
            let part = try await client.search(["merge": merge], key: key, "?limit=1")
            let next = try #require(part["next"].string)
            let rest = try await client.search(["merge": merge], key: key, "?limit=1&after=\(next)")
            #expect(part["items"].array?.count == 1 && rest["items"].array?.count == 1 && rest["next"] == .null)
            #expect(part["items"] != rest["items"])
        }
    }

    @Test func `claims and sign-ups are told from the owner of an address`() async throws {
        try await TestServer.reading { server, client, key in
            let address = APIClient.newAddress()
            let evidence = VerifiedIdentity.somebody("mallory", email: address, isVerified: false)
            let claiming = try await client.present(evidence, to: "scripted")
            let uid = try #require(claiming["user"]["id"].string)
            _ = try await client.pend(at: server, address)
            let found = try await client.found(["email": .string(address)], key: key)
            #expect(found.map { $0["matchedBy"] } == ["claim", "registration"], "\(found)")
            #expect(found.map { $0["uid"] } == [.string(uid), .null])
            for item in found {
                #expect(item["email"].string == Mask.email(address) && item["emailVerified"] == false, "\(item)")
            }
            #expect(found.last?["status"] == .null && found.last?["authProviders"] == ["email"])
            // A page ends within the results.
            let first = try await client.search(["email": .string(address)], key: key, "?limit=1")
            let next = try #require(first["next"].string)
            let second = try await client.search(["email": .string(address)], key: key, "?limit=1&after=\(next)")
            #expect(second["items"].array?.first?["matchedBy"] == "registration" && second["next"] == .null)

            // A decoy is no sign-up: somebody has tried to register the address of an account.
            let owner = try await client.register(at: server)
            _ = try await client.post(
                "/auth/register", ["email": .string(owner.email), "password": .string(APIClient.otherPassword)])
            let owned = try await client.found(["email": .string(owner.email)], key: key)
            #expect(owned.map { $0["matchedBy"] } == ["address"] && owned.first?["emailVerified"] == true)
        }
    }

    @Test func `prefixes are literal, ordered and complete`() async throws {
        try await TestServer.reading { server, client, key in
            let names = ["Ab%1", "Ab_2", "ABc3", "Abd4", "Ac", "Żó"]
            var uids: [String: String] = [:]
            for name in names {
                let person = try await client.newcomer(email: "\(name.lowercased().prefix(2))-\(UUID())@example.com")
                _ = try await client.patch("/auth/me", ["displayName": .string(name)], bearer: person.accessToken)
                uids[name] = person.uid
            }
            func found(_ prefix: String) async throws -> Set<String> {
                let items = try await client.found(["namePrefix": .string(prefix)], key: key)
                #expect(items.allSatisfy { $0["matchedBy"] == "prefix" })
                let found = Set(items.compactMap { $0["uid"].string })
                return Set(uids.filter { found.contains($0.value) }.keys)
            }
            #expect(try await found("ab") == ["Ab%1", "Ab_2", "ABc3", "Abd4"])
            for (prefix, names) in [("AB%", ["Ab%1"]), ("ab_", ["Ab_2"]), ("%%", []), ("__", []), ("Żó", ["Żó"])] {
                #expect(try await found(prefix) == Set(names), "\(prefix)")
            }
            for (prefix, count) in [("ab-", 4), ("AB-", 4), ("a%%", 0), ("a__", 0), ("żó-", 1)] {
                let items = try await client.found(["emailPrefix": .string(prefix)], key: key)
                #expect(items.count == count, "\(prefix)")
            }

            var (seen, next, parts): ([String], String?, Int) = ([], nil, 0)
            repeat {
                let after = next.map { "&after=\($0)" } ?? ""
                let part = try await client.search(["namePrefix": "ab"], key: key, "?limit=1\(after)")
                seen += part["items"].array?.compactMap { $0["uid"].string } ?? []
                (next, parts) = (part["next"].string, parts + 1)
                // The cursor is in a URL.
                guard let cursor = next?.split(separator: ".").first.map(String.init) else { continue }
                let base64 = cursor.replacing("-", with: "+").replacing("_", with: "/")
                let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
                let opened = String(decoding: try #require(Data(base64Encoded: padded)), as: UTF8.self)
                #expect(!opened.lowercased().contains("ab%") && !opened.lowercased().contains("ab_"), "\(opened)")
            } while next != nil && parts < 10
            #expect(Set(seen) == Set(["Ab%1", "Ab_2", "ABc3", "Abd4"].compactMap { uids[$0] }) && seen.count == 4)
        }
    }

    @Test func `a phone's prefix finds the number`() async throws {
        try await TestServer.reading { server, client, key in
            let code = try await client.challenge("phone", "+33612345678", at: server)
            _ = try await client.post("/auth/phone/otp/verify", .object(code))
            for (prefix, count) in [("+3361", 1), ("+33612345678", 1), ("+3362", 0)] {
                let found = try await client.found(["phonePrefix": .string(prefix)], key: key)
                #expect(found.count == count, "\(prefix)")
            }
        }
    }

    @Test func `a prefix needs the scope that reveals`() async throws {
        try await TestServer.reading { server, client, _ in
            let key = try await server.serviceKey([.readAccounts])
            for criterion in ["emailPrefix": "ada", "phonePrefix": "+3361", "namePrefix": "ad"] as [String: JSONValue] {
                let refused = try await client.search(.object([criterion.key: criterion.value]), key: key)
                expectError(refused, 403, "FORBIDDEN", criterion.key)
                #expect(refused.json["error"]["details"]["scope"] == "accounts:reveal")
            }
            #expect(try await client.found(["email": "ada@example.com"], key: key) == [])
            let other = try await server.serviceKey([.readAudit])
            expectError(try await client.search(["email": "ada@example.com"], key: other), 403, "FORBIDDEN")
        }
    }

    @Test func `exactly one criterion is taken`() async throws {
        try await TestServer.reading { _, client, key in
            expectError(try await client.search([:], key: key), 400, "MISSING_PARAMETER")
            expectError(try await client.search(["providerUid": "x"], key: key), 400, "MISSING_PARAMETER")
            expectError(try await client.search(["provider": "email"], key: key), 400, "MISSING_PARAMETER")
            for body in [
                ["email": "ada@example.com", "phone": "+33612345678"], ["email": "ada"], ["phone": "12"],
                ["uid": "12"], ["emailPrefix": "ab"], ["phonePrefix": "+336"], ["phonePrefix": "33612"],
                ["namePrefix": "a"], ["namePrefix": .string(String(repeating: "a", count: 255))],
            ] as [JSONValue] {
                expectError(try await client.search(body, key: key), 400, "INVALID_PARAMETER", "\(body)")
            }
            for query in ["?limit=0", "?limit=201", "?limit=x", "?after=x"] {
                let refused = try await client.search(["email": "ada@example.com"], key: key, query)
                expectError(refused, 400, "INVALID_PARAMETER", query)
            }
        }
    }

    @Test func `after sixty searches an administrator waits`() async throws {
        #expect(RatePolicy.standard[.adminSearch] == Rate(60, per: .seconds(60)))
        try await TestServer.reading(rateLimits: "{ adminSearch: 60/h }") { server, client, key in
            for number in 1...60 {
                let answer = try await client.search(["email": .string("p\(number)@example.com")], key: key)
                #expect(answer.status == 200, "\(number): \(answer.text)")
            }
            expectError(try await client.search(["email": "p61@example.com"], key: key), 429, "RATE_LIMITED")
            #expect(try await client.get("/admin/accounts", bearer: key).status == 200)
            let other = try await server.serviceKey([.readAccounts])
            #expect(try await client.search(["email": "p61@example.com"], key: other).status == 200)
        }
    }

    @Test func `the audit has the kind and the number of results, and never the term`() async throws {
        try await TestServer.reading { server, client, key in
            let person = try await client.register(at: server)
            let actor: JSONValue = ["key": .string(String(key.dropFirst(4).prefix(16)))]
            let events = try await server.audited {
                _ = try await client.found(["email": .string(person.email)], key: key)
                _ = try await client.found(["emailPrefix": .string(String(person.email.prefix(8)))], key: key)
                _ = try await client.found(["email": "nobody@example.com"], key: key)
                _ = try await client.search(["email": "nobody"], key: key)
            }.filter { $0.event == "accounts.searched" }
            #expect(
                events
                    == [("email", 1), ("emailPrefix", 1), ("email", 0)].map { kind, hits in
                        .init(
                            event: "accounts.searched",
                            details: ["actor": actor, "kind": .string(kind), "hits": .integer(Int64(hits))],
                            account: nil)
                    })
        }
    }

    @Test(.needsOneNode) func `a search that cannot be audited does not happen`() async throws {
        try await TestServer.reading { server, client, key in
            let person = try await client.register(at: server)
            try await server.execute(
                "ALTER TABLE audit_events ADD CONSTRAINT none CHECK (event <> 'accounts.searched') NOT VALID")
            let answer = try await client.search(["email": .string(person.email)], key: key)
            #expect(answer.status >= 500 && answer["items"] == .null, "\(answer.text)")
        }
    }
}
