import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// What becomes of roles and claims when accounts are merged, deleted, restored and exported.
struct AccessLifeTests {
    @Test func `a merge leaves the survivor its own, and undoing it gives the other's back`() async throws {
        try await TestServer.linking { server, client in
            let ada = try await client.register(at: server)
            let eve = try await client.newcomer("eve")
            try await server.setAccess(["editor"], claims: ["plan": "free"], of: ada.uid)
            try await server.setAccess(["admin"], claims: ["plan": "pro", "seats": 3], of: eve.uid)
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let token = try merged.accessClaims()
            #expect(token["roles"] == ["editor"] && token["claims"] == ["plan": "free"])
            #expect(merged["user"]["roles"] == ["editor"] && merged["user"]["claims"] == ["plan": "free"])
            let present = try await client.present(.somebody("eve"))
            #expect(try present.accessClaims()["roles"] == ["editor"], "by the other's identity")

            // An act on the alias concerns the account that absorbed it.
            try await server.setAccess(["moderator"], of: eve.uid)
            let bearer = merged["accessToken"].string ?? ""
            #expect(try await client.get("/auth/me", bearer: bearer)["roles"] == ["moderator"])
            let undone = try await client.post(
                "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo", bearer: bearer)
            #expect(undone.status == 204, "\(undone.text)")
            let kept = try await client.get("/auth/me", bearer: bearer)
            #expect(kept["roles"] == ["moderator"] && kept["claims"] == ["plan": "free"])
            let back = try await client.present(.somebody("eve"))
            #expect(back["user"]["id"].string == eve.uid && back["user"]["roles"] == ["admin"], "\(back.text)")
            #expect(back["user"]["claims"] == ["plan": "pro", "seats": 3])
        }
    }

    @Test func `a deleted account keeps them until it is erased`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await server.setAccess(["editor"], claims: ["plan": "pro"], of: person.uid)
            #expect(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
            let access = try await server.setAccess(["moderator"], of: person.uid)
            #expect(access == AccountAccess(roles: ["moderator"], claims: ["plan": "pro"]), "in its grace period")
            let refused = try await client.login(person.email)
            let restored = try await client.post(
                "/auth/account/restore", ["restoreToken": refused.json["error"]["details"]["restoreToken"]])
            let token = try restored.accessClaims()
            #expect(token["roles"] == ["moderator"] && token["claims"] == ["plan": "pro"])
            let again = try Person(try await client.login(person.email), email: "", password: "")
            #expect(try await client.delete("/auth/account", bearer: again.accessToken).status == 204)
            try await server.makeDue()
            try await server.erase(person.uid)
            let left = try await server.count(
                "SELECT count(*) FROM accounts WHERE roles <> '{}' OR claims <> '{}'")
            #expect(left == 0)
            let unknown = try #require(UUID(uuidString: person.uid))
            await #expect(throws: AccountsError.accountNotFound(unknown)) {
                try await server.setAccess(["editor"], of: person.uid)
            }
        }
    }

    @Test func `a person's export has them, and names no administrator`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await server.setAccess(["editor"], claims: ["plan": "pro"], of: person.uid)
            let export = try await client.get("/auth/account/export", bearer: person.accessToken)
            #expect(export["account"]["roles"] == ["editor"] && export["account"]["claims"] == ["plan": "pro"])
            let event = export["auditEvents"].array?.first { $0["event"] == "account.access-changed" }
            #expect(event?["details"] == ["actor": "an administrator", "changed": ["roles", "claims"]])
            #expect(!export.text.contains("gate.example"))
        }
    }
}
