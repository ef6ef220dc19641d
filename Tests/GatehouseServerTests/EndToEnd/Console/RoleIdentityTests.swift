import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Another identity does not get an administrator's role by the password or the address of an identity that has it.
struct RoleIdentityTests {
    /// An owner, whose account somebody has opened by an identity that it got after the role.
    private struct Intrusion {
        let server: TestServer
        let client: APIClient
        let owner: Person
        let evidence: VerifiedIdentity
        /// The address that the identity showed.
        let address: String
        let bearer: String

        func identityID(of provider: String) async throws -> String {
            try await client.identityID(of: provider, bearer: owner.accessToken)
        }
    }

    private func withIntrusion(_ body: @Sendable @escaping (Intrusion) async throws -> Void) async throws {
        try await TestServer.withConsole { server in
            let client = APIClient(server)
            let owner = try await client.register(at: server)
            try await server.grant(.owner, to: owner)
            let address = APIClient.newAddress()
            let evidence = VerifiedIdentity.somebody(email: address)
            let linked = try await client.link(evidence, bearer: owner.accessToken)
            try #require(linked.status == 200, "\(linked.text)")
            let bearer = try await client.present(evidence, to: "scripted")["accessToken"].string
            try await body(
                Intrusion(
                    server: server, client: client, owner: owner, evidence: evidence, address: address,
                    bearer: try #require(bearer)))
        }
    }

    @Test func `its sessions cannot change the password`() async throws {
        try await withIntrusion { intrusion in
            let client = intrusion.client
            let change: JSONValue = ["password": .string(APIClient.otherPassword)]
            let knowing: JSONValue = [
                "password": .string(APIClient.otherPassword), "currentPassword": .string(APIClient.password),
            ]
            for change in [change, knowing] {
                let refused = try await client.put("/auth/change-password", change, bearer: intrusion.bearer)
                expectRefusal(refused, 403, "TOKEN_TOO_OLD", rule: "identity.has-role")
            }
            let changed = try await client.put("/auth/change-password", change, bearer: intrusion.owner.accessToken)
            #expect(changed.status < 300, "\(changed.text)")
        }
    }

    @Test func `its sessions cannot have a link mailed that sets the password`() async throws {
        try await withIntrusion { intrusion in
            let body: JSONValue = [
                "email": .string(intrusion.owner.email), "password": .string(APIClient.otherPassword),
            ]
            let path = "/auth/identities/email"
            let refused = try await intrusion.client.post(path, body, bearer: intrusion.bearer)
            expectRefusal(refused, 403, "TOKEN_TOO_OLD", rule: "identity.has-role")
            let other: JSONValue = [
                "email": .string(APIClient.newAddress()), "password": .string(APIClient.otherPassword),
            ]
            for (body, bearer) in [(other, intrusion.bearer), (body, intrusion.owner.accessToken)] {
                let begun = try await intrusion.client.post(path, body, bearer: bearer)
                #expect(begun.status < 300, "\(begun.text)")
            }
        }
    }

    @Test func `its sessions cannot change the address, or remove the identity`() async throws {
        try await withIntrusion { intrusion in
            let (client, id) = (intrusion.client, try await intrusion.identityID(of: "email"))
            let change: JSONValue = ["email": .string(APIClient.newAddress())]
            let path = "/auth/identities/\(id)"
            expectError(
                try await client.post("\(path)/address", change, bearer: intrusion.bearer), 403, "TOKEN_TOO_OLD")
            expectError(try await client.delete(path, bearer: intrusion.bearer), 403, "TOKEN_TOO_OLD")

            let other = try await intrusion.identityID(of: "scripted")
            #expect(try await client.delete("/auth/identities/\(other)", bearer: intrusion.bearer).status < 300)
        }
    }

    @Test func `its sessions cannot complete what the owner began`() async throws {
        try await withIntrusion { intrusion in
            let (client, owner) = (intrusion.client, intrusion.owner)
            let path = "/auth/identities/\(try await intrusion.identityID(of: "email"))/address"
            let address = APIClient.newAddress()
            let begun = try await client.post(path, ["email": .string(address)], bearer: owner.accessToken)
            let code = try await client.sentCode(to: address, at: intrusion.server)
            let proof: JSONValue = ["challengeId": begun["challengeId"], "code": .string(code)]
            let changed = try await client.post("\(path)/verify", proof, bearer: intrusion.bearer)
            expectRefusal(changed, 403, "TOKEN_TOO_OLD", rule: "identity.has-role")

            let body: JSONValue = ["email": .string(owner.email), "password": .string(APIClient.otherPassword)]
            let used = try await client.mailedToken(to: owner.email, at: intrusion.server)
            _ = try await client.post("/auth/identities/email", body, bearer: owner.accessToken)
            let token = try await client.mailedToken(to: owner.email, at: intrusion.server, other: [used])
            let set = try await client.post(
                "/auth/verify-email", ["token": .string(token)], bearer: intrusion.bearer)
            expectRefusal(set, 403, "TOKEN_TOO_OLD", rule: "identity.has-role")
            #expect(try await client.login(owner.email, APIClient.password).status == 200)
        }
    }

    @Test func `its sessions and proofs cannot merge the account, or undo a merge`() async throws {
        try await withIntrusion { intrusion in
            let (client, owner) = (intrusion.client, intrusion.owner)
            let other = VerifiedIdentity.somebody()
            let intruder = try Person(try await client.present(other, to: "scripted"), email: "", password: "")
            let tickets = [
                (try await client.ticket(intrusion.evidence, bearer: intruder.accessToken), intruder.accessToken),
                (try await client.ticket(other, bearer: intrusion.bearer), intrusion.bearer),
            ]
            for (ticket, bearer) in tickets {
                for dryRun in [true, false] {
                    let refused = try await client.merge(ticket, bearer: bearer, survivor: "current", dryRun: dryRun)
                    expectRefusal(refused, 403, "TOKEN_TOO_OLD", rule: "identity.has-role")
                }
            }
            let ticket = try await client.ticket(other, bearer: owner.accessToken)
            let merged = try await client.merge(ticket, bearer: owner.accessToken, survivor: "current")
            let id = try #require(merged["merge"]["id"].string, "\(merged.text)")
            let intruding = try await client.present(intrusion.evidence, to: "scripted")
            let undone = try await client.post(
                "/auth/merges/\(id)/undo", bearer: intruding["accessToken"].string ?? "")
            expectRefusal(undone, 403, "TOKEN_TOO_OLD", rule: "identity.has-role")
            let own = try #require(merged["accessToken"].string)
            #expect(try await client.post("/auth/merges/\(id)/undo", bearer: own).status == 204)
        }
    }

    @Test func `its sessions cannot delete the account`() async throws {
        try await withIntrusion { intrusion in
            let refused = try await intrusion.client.delete("/auth/account", bearer: intrusion.bearer)
            expectRefusal(refused, 403, "TOKEN_TOO_OLD", rule: "identity.has-role")
            let deleted = try await intrusion.client.delete("/auth/account", bearer: intrusion.owner.accessToken)
            #expect(deleted.status == 204, "\(deleted.text)")
        }
    }

    @Test func `an account is deleted by any session once the identity of the role is gone`() async throws {
        try await withIntrusion { intrusion in
            let email = try await intrusion.identityID(of: "email")
            let removed = try await intrusion.client.delete(
                "/auth/identities/\(email)", bearer: intrusion.owner.accessToken)
            #expect(removed.status < 300, "\(removed.text)")
            let deleted = try await intrusion.client.delete("/auth/account", bearer: intrusion.bearer)
            #expect(deleted.status == 204, "\(deleted.text)")
        }
    }

    @Test func `a grant counts for the present identities once those of the role are gone`() async throws {
        try await withIntrusion { intrusion in
            let server = intrusion.server
            let unchanged = try await server.audited { try await server.grant(.owner, to: intrusion.owner) }
            #expect(unchanged.isEmpty, "the role still counts for an identity")
            let email = try await intrusion.identityID(of: "email")
            let removed = try await intrusion.client.delete(
                "/auth/identities/\(email)", bearer: intrusion.owner.accessToken)
            #expect(removed.status < 300, "\(removed.text)")

            var browser = PageBrowser(server)
            let refused = try await browser.present(intrusion.evidence, at: browser.open("/console/demo"))
            #expect(refused.status == 403 && refused.text.contains("This identity is not confirmed"), "\(refused.text)")
            let events = try await server.audited {
                for _ in 1...2 { try await server.grant(.owner, to: intrusion.owner) }
            }
            #expect(events.map(\.event) == ["admin.granted"], "once")
            let page = try await browser.open("/console/demo")
            #expect(page.status == 200 && page.path == "/console/demo", "\(page.status) \(page.text)")
        }
    }

    @Test func `a session that a proof of another address opens is borrowed`() async throws {
        try await withIntrusion { intrusion in
            let client = intrusion.client
            #expect(try await client.delete("/auth/account", bearer: intrusion.owner.accessToken).status == 204)
            let answer = try await client.challenge("email", intrusion.address, at: intrusion.server)
            let refused = try await client.post("/auth/email/otp/verify", .object(answer))
            let token = try #require(refused.json["error"]["details"]["restoreToken"].string, "\(refused.text)")
            let restored = try await client.post("/auth/account/restore", ["restoreToken": .string(token)])
            let claims = try DecodedToken(try #require(restored["accessToken"].string, "\(restored.text)")).claims
            #expect(claims["provider"] == "email" && claims["borrowed"] == true, "\(claims)")
        }
    }

    @Test func `a reset by another mailbox leaves the password, and its link does not remove the identity`()
        async throws
    {
        try await withIntrusion { intrusion in
            let (client, address) = (intrusion.client, APIClient.newAddress())
            let id = try await intrusion.identityID(of: "email")
            let answer = try await client.challenge(
                "email", address, at: intrusion.server, bearer: intrusion.owner.accessToken)
            let linked = try await client.post(
                "/auth/identities/email", .object(answer), bearer: intrusion.owner.accessToken)
            try #require(linked.status == 200, "\(linked.text)")
            #expect(try await client.resetPassword(of: address, at: intrusion.server).status == 204)
            let token = try await client.reviewToken(of: address, at: intrusion.server)
            let refused = try await client.review(token, remove: [id])
            expectRefusal(refused, 400, "INVALID_PARAMETER", rule: "identity.has-role")
            let owner = intrusion.owner.email
            #expect(try await client.login(owner, APIClient.password).status == 200, "it is not quarantined")
            expectError(try await client.login(owner, APIClient.otherPassword), 401, "INVALID_CREDENTIALS")
        }
    }

    @Test func `a reset by a mailbox that a merge has brought does not lock the role's identity out`() async throws {
        try await withIntrusion { intrusion in
            let (client, owner) = (intrusion.client, intrusion.owner)
            let other = try await client.register(at: intrusion.server)
            let code = try await client.challenge(
                "email", other.email, at: intrusion.server, bearer: owner.accessToken)
            let refused = try await client.post("/auth/identities/email", .object(code), bearer: owner.accessToken)
            let ticket = try #require(refused.json["error"]["details"]["mergeToken"].string, "\(refused.text)")
            let merged = try await client.merge(ticket, bearer: owner.accessToken, survivor: "current")
            #expect(merged.status == 200, "\(merged.text)")
            #expect(try await client.resetPassword(of: other.email, at: intrusion.server).status == 204)
            #expect(try await client.login(owner.email, APIClient.password).status == 200)
        }
    }
}
