import Accounts
import ProviderKit
import Testing

@testable import GatehouseServer

/// Only the session that began a flow, or its successor, may finish the flow; other sessions of the account may not.
struct SessionContinuationTests {
    /// The sessions of a person after the first one has begun a flow.
    private struct Situation: Sendable {
        let server: TestServer
        let client: APIClient
        let beginner: Person
        /// An earlier session of the same account.
        let other: Person

        /// Returns whether this session can enter a code that the beginner requested.
        func canFinish(_ code: [String: JSONValue], with bearer: String) async throws -> Bool {
            let answer = try await client.post("/auth/identities/email", .object(code), bearer: bearer)
            if answer.status != 200 { expectError(answer, 401, "INVALID_CREDENTIALS") }
            return answer.status == 200
        }

        func code() async throws -> [String: JSONValue] {
            try await client.challenge("email", APIClient.newAddress(), at: server, bearer: beginner.accessToken)
        }
    }

    private func with(_ body: @Sendable @escaping (Situation) async throws -> Void) async throws {
        try await TestServer.linking { server, client in
            let other = try await client.newcomer("ada")
            let beginner = try Person(try await client.present(.somebody("ada")), email: "", password: "")
            try await body(Situation(server: server, client: client, beginner: beginner, other: other))
        }
    }

    @Test func `a session that authenticated again from it`() async throws {
        try await with { situation in
            let code = try await situation.code()
            let foreign = try await situation.client.reauthenticate(
                .somebody("ada"), bearer: situation.other.accessToken)
            let own = try await situation.client.reauthenticate(
                .somebody("ada"), bearer: situation.beginner.accessToken)
            #expect(try await !situation.canFinish(code, with: situation.other.accessToken))
            #expect(try await !situation.canFinish(code, with: foreign["accessToken"].string ?? ""))
            #expect(try await situation.canFinish(code, with: own["accessToken"].string ?? ""))
        }
    }

    @Test func `no session that linked an identity from it`() async throws {
        try await with { situation in
            let code = try await situation.code()
            let linked = try await situation.client.link(.somebody(), bearer: situation.beginner.accessToken)
            #expect(try await !situation.canFinish(code, with: linked["accessToken"].string ?? ""))
            #expect(try await situation.canFinish(code, with: situation.beginner.accessToken))
        }
    }

    @Test(arguments: ["current", "other"]) func `the session of a merge that it requested`(survivor: String)
        async throws
    {
        try await with { situation in
            let client = situation.client
            let code = try await situation.code()
            _ = try await client.newcomer("eve")
            // The merge is requested by a session that re-authenticated, and so continues the first one.
            let again = try await client.reauthenticate(.somebody("ada"), bearer: situation.beginner.accessToken)
            let bearer = again["accessToken"].string ?? ""
            let merged = try await client.merge(
                client.ticket(.somebody("eve"), bearer: bearer), bearer: bearer, survivor: survivor)
            #expect(merged.status == 200, "\(merged.text)")
            let present = try await client.present(.somebody("ada"))
            #expect(try await !situation.canFinish(code, with: present["accessToken"].string ?? ""))
            #expect(try await situation.canFinish(code, with: merged["accessToken"].string ?? ""))
        }
    }

    @Test func `a session of a guest that an account absorbed`() async throws {
        try await TestServer.linking { server, client in
            _ = try await client.newcomer("eve")
            for choice in ["switch", "merge"] {
                let guest = try await client.guest()
                let situation = Situation(server: server, client: client, beginner: guest, other: guest)
                let code = try await situation.code()
                let moved = try await client.link(.somebody("eve"), bearer: guest.accessToken, onConflict: choice)
                #expect(moved.status == 200, "\(moved.text)")
                let isFinished = try await situation.canFinish(code, with: moved["accessToken"].string ?? "")
                #expect(isFinished == (choice == "merge"), "\(choice)")
            }
        }
    }

    @Test func `a session that a restored deletion gave back`() async throws {
        try await with { situation in
            let client = situation.client
            let code = try await situation.code()
            let others = try await client.challenge(
                "email", APIClient.newAddress(), at: situation.server, bearer: situation.other.accessToken)
            var bearer = situation.beginner.accessToken
            for _ in 1...2 {
                #expect(try await client.delete("/auth/account", bearer: bearer).status == 204)
                let refused = try await client.present(.somebody("ada"))
                let token = try #require(refused.json["error"]["details"]["restoreToken"].string)
                let restored = try await client.post("/auth/account/restore", ["restoreToken": .string(token)])
                bearer = try #require(restored["accessToken"].string, "\(restored.text)")
            }
            #expect(try await !situation.canFinish(others, with: bearer))
            #expect(try await situation.canFinish(code, with: bearer))
        }
    }
}
