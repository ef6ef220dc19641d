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
            let evidence = VerifiedIdentity.somebody()
            let linked = try await client.link(evidence, bearer: owner.accessToken)
            try #require(linked.status == 200, "\(linked.text)")
            let bearer = try await client.present(evidence, to: "scripted")["accessToken"].string
            try await body(Intrusion(server: server, client: client, owner: owner, bearer: try #require(bearer)))
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
                expectError(refused, 403, "TOKEN_TOO_OLD")
            }
            let changed = try await client.put("/auth/change-password", change, bearer: intrusion.owner.accessToken)
            #expect(changed.status < 300, "\(changed.text)")
        }
    }

    @Test func `its sessions cannot change the address, or remove the identity`() async throws {
        try await withIntrusion { intrusion in
            let (client, id) = (intrusion.client, try await intrusion.identityID(of: "email"))
            let change: JSONValue = ["email": .string(APIClient.newAddress())]
            let path = "/auth/identities/\(id)"
            expectError(
                try await client.post("\(path)/address", change, bearer: intrusion.bearer), 403, "TOKEN_TOO_OLD")
            let begun = try await client.post("\(path)/address", change, bearer: intrusion.owner.accessToken)
            let code = try await client.sentCode(to: change["email"].string ?? "", at: intrusion.server)
            let answer: JSONValue = ["challengeId": begun["challengeId"], "code": .string(code)]
            expectError(
                try await client.post("\(path)/address/verify", answer, bearer: intrusion.bearer), 403, "TOKEN_TOO_OLD")
            expectError(try await client.delete(path, bearer: intrusion.bearer), 403, "TOKEN_TOO_OLD")

            let other = try await intrusion.identityID(of: "scripted")
            #expect(try await client.delete("/auth/identities/\(other)", bearer: intrusion.bearer).status < 300)
        }
    }

    @Test func `a reset by another mailbox leaves the password`() async throws {
        try await withIntrusion { intrusion in
            let (client, address) = (intrusion.client, APIClient.newAddress())
            let answer = try await client.challenge(
                "email", address, at: intrusion.server, bearer: intrusion.owner.accessToken)
            let linked = try await client.post(
                "/auth/identities/email", .object(answer), bearer: intrusion.owner.accessToken)
            try #require(linked.status == 200, "\(linked.text)")
            #expect(try await client.resetPassword(of: address, at: intrusion.server).status == 204)
            let owner = intrusion.owner.email
            #expect(try await client.login(owner, APIClient.password).status == 200)
            expectError(try await client.login(owner, APIClient.otherPassword), 401, "INVALID_CREDENTIALS")
        }
    }
}
