import ProviderKit
import Testing

@testable import GatehouseServer

/// Whether an administrator is told the same about an identity as its owner who wants to remove another.
struct UsableIdentityTests {
    private static let providers = """
        scripted: {}
        later: { kind: scripted, mode: linkOnly }
        """

    /// Returns why each identity cannot sign in, by provider.
    private func obstacles(of uid: String, _ client: APIClient, key: String) async throws -> [String: JSONValue] {
        let answer = try await client.get("/admin/accounts/\(uid)/identities", bearer: key)
        let items = answer["items"].array ?? []
        for item in items { #expect(item["usable"].bool == item["unusableBecause"].isNull, "\(item)") }
        let account = try await client.get("/admin/accounts/\(uid)", bearer: key)
        #expect(account["identities"].integer == Int64(items.count))
        #expect(account["usableIdentities"].integer == Int64(items.count { $0["usable"] == true }), "\(account.text)")
        return Dictionary(items.map { ($0["provider"].string ?? "", $0["unusableBecause"]) }) { $1 }
    }

    @Test func `an identity is usable if it could stay alone`() async throws {
        try await TestServer.reading(providers: Self.providers) { server, client, key in
            let person = try await client.register(at: server)
            let linked = try await client.link(.somebody(), bearer: person.accessToken, provider: "later")
            #expect(linked.status == 200, "\(linked.text)")
            #expect(
                try await obstacles(of: person.uid, client, key: key)
                    == ["email": .null, "later": "provider.link-only"])
            let email = try await client.identityID(of: "email", bearer: person.accessToken)
            let refused = try await client.delete("/auth/identities/\(email)", bearer: person.accessToken)
            expectError(refused, 409, "LAST_USABLE_IDENTITY")

            let usable = try await client.link(.somebody("usable"), bearer: person.accessToken)
            #expect(usable.status == 200, "\(usable.text)")
            for (sql, obstacle) in [
                ("UPDATE identities SET quarantined_at = now() WHERE provider = 'scripted'", "identity.quarantined"),
                ("UPDATE identities SET provider = 'gone' WHERE provider = 'scripted'", "provider.off"),
            ] as [(StaticString, JSONValue)] {
                try await server.execute(sql)
                let provider = obstacle == "provider.off" ? "gone" : "scripted"
                #expect(try await obstacles(of: person.uid, client, key: key)[provider] == obstacle)
                let refused = try await client.delete("/auth/identities/\(email)", bearer: person.accessToken)
                expectError(refused, 409, "LAST_USABLE_IDENTITY", "\(obstacle)")
            }
            try await server.execute(
                "UPDATE identities SET provider = 'scripted', quarantined_at = NULL WHERE provider = 'gone'")
            #expect(try await obstacles(of: person.uid, client, key: key)["scripted"] == .null)
            #expect(try await client.delete("/auth/identities/\(email)", bearer: person.accessToken).status == 200)
            // Only `scripted` is left that signs in, so that its quarantine is ignored.
            try await server.execute("UPDATE identities SET quarantined_at = now() WHERE provider = 'scripted'")
            #expect(try await obstacles(of: person.uid, client, key: key)["scripted"] == .null)
        }
    }

    @Test func `guests cannot sign in, and addresses can that their account does not own`() async throws {
        try await TestServer.reading { server, client, key in
            let guest = try await client.guest()
            #expect(try await obstacles(of: guest.uid, client, key: key) == ["anonymous": "identity.guest"])
            let person = try await client.register(at: server)
            try await server.execute("UPDATE identities SET email_verified = false WHERE provider = 'email'")
            #expect(try await obstacles(of: person.uid, client, key: key) == ["email": .null])
            #expect(try await client.login(person.email)["user"]["id"].string == person.uid)
            let code = try await client.challenge("email", person.email, at: server)
            let opened = try await client.post("/auth/email/otp/verify", .object(code))
            #expect(opened["user"]["id"].string == person.uid, "\(opened.text)")
        }
    }
}
