import Foundation
import GatehouseClient
import ProviderKit
import Testing

@testable import GatehouseServer

/// The Swift client library lists and ends sessions, and deletes and exports accounts.
struct SwiftSessionTests {
    private func with(
        _ body: @Sendable @escaping (TestServer, APIClient, Person, SwiftApp) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            let api = APIClient(server)
            let person = try await api.register(at: server)
            let app = try SwiftApp(server)
            try await app.client.signIn(.password(email: person.email, password: person.password))
            try await body(server, api, person, app)
        }
    }

    @Test func `sessions are listed, and ended one by one or all at once`() async throws {
        try await with { server, api, person, app in
            let others = try await atOnce(3) { try await api.login(person.email) }
            let open = try await app.client.sessions()
            #expect(open.count == 5 && open.first { $0.current }?.device == "Kitchen")
            let other = try #require(open.first { !$0.current })
            try await app.client.endSession(other.id)
            let left = try await app.client.sessions()
            #expect(left.count == 4 && !left.contains { $0.id == other.id })
            try await app.client.signOut(.others)
            let alone = try await app.client.sessions()
            #expect(alone.map(\.current) == [true])
            for answer in others {
                let refused = try await api.refresh(answer["refreshToken"].string ?? "")
                expectError(refused, 401, "INVALID_REFRESH_TOKEN")
            }
            let token = try await app.client.accessToken()
            try await app.client.signOut()
            try await app.changes.wait(for: "signedOut")
            #expect(app.storage.isEmpty)
            expectError(try await api.get("/auth/me", bearer: token.value), 401, "INVALID_TOKEN")
            let nobody = await #expect(throws: GatehouseError.self) { try await app.client.user() }
            #expect(nobody?.code == .signedOut)
        }
    }

    @Test func `a session ends for good only when the server says so`() async throws {
        try await with { server, api, person, app in
            let restarted = try SwiftApp(server, storage: app.storage)
            let resumed = try await restarted.client.resume()
            #expect(resumed?.uid == person.uid && restarted.transport.count("/auth/refresh") == 1)
            // Its storage is its own: a sign-out in the same storage ends the session here without the server.
            let device = try SwiftApp(server)
            try await device.client.signIn(.password(email: person.email, password: person.password))
            try await device.client.signOut(.global)
            #expect(try await server.liveSessions(of: person.uid) == 0)
            let ended = await #expect(throws: GatehouseError.self) { try await app.client.user() }
            #expect(ended?.code == .invalidRefreshToken)
            try await app.changes.wait(for: "ended INVALID_REFRESH_TOKEN")
            let nobody = try await app.client.resume()
            #expect(nobody == nil && app.storage.isEmpty)
        }
    }

    @Test func `two processes with one storage never present an old refresh token`() async throws {
        try await with { server, api, person, app in
            let other = try SwiftApp(server, storage: app.storage)
            for _ in 1...3 {
                for client in [other.client, app.client] {
                    let token = try await client.accessToken()
                    let renewed = try await client.accessToken(insteadOf: token)
                    #expect(renewed != token)
                    try await server.letPass(.seconds(60))
                }
            }
            let user = try await app.client.user()
            #expect(user.id == person.uid)
        }
    }

    @Test func `a session that ends does not take another process's person with it`() async throws {
        try await with { server, api, person, app in
            let other = try SwiftApp(server, storage: app.storage)
            let guest = try await other.client.signIn(.anonymous).session
            let access = try await api.login(person.email)["accessToken"].string
            let others = try await api.post("/auth/logout", ["scope": "others"], bearer: access)
            #expect(others.status == 204)
            let ended = await #expect(throws: GatehouseError.self) { try await app.client.user() }
            #expect(ended?.code == .signedOut && !app.storage.isEmpty)
            try await eventually("the client reports both persons") {
                app.changes.kinds.suffix(2) == ["elsewhere", "signedIn"]
            }
            #expect(app.transport.count("/auth/refresh") == 0)
            let next = try await app.client.session
            #expect(next?.uid == guest.uid, "the session that is stored now")
        }
    }

    @Test func `a session that is not remembered is never stored`() async throws {
        try await with { server, api, person, app in
            try await app.client.signIn(
                .password(email: person.email, password: person.password), remember: false)
            #expect(app.storage.isEmpty)
            let user = try await app.client.updateUser(displayName: "Ada", metadata: ["theme": "dark", "n": [1, 2.5]])
            #expect(user.displayName == "Ada" && user.metadata["n"]?.array == [1, 2.5])
            #expect(app.storage.isEmpty)
            let body = app.transport.sent.last { $0.path == "/auth/login" }?.body ?? ""
            #expect(body.contains(#""remember":false"#))
        }
    }

    @Test func `an account is exported as a stream, deleted, and restored`() async throws {
        try await with { server, api, person, app in
            let export = try await app.client.exportAccount()
            var document = Data()
            for try await part in export.parts { document += part }
            let sections = try JSONDecoder().decode([String: GatehouseClient.JSON].self, from: document)
            #expect(export.fileName == "account-\(person.uid).json")
            #expect(sections["account"]?.object?["uid"]?.string == person.uid)

            let deletion = try await app.client.deleteAccount()
            let receipt = try #require(deletion)
            try await app.changes.wait(for: "accountDeleted")
            let deleted = await #expect(throws: GatehouseError.self) {
                try await app.client.signIn(.password(email: person.email, password: person.password))
            }
            #expect(deleted?.code == .accountDeleted && deleted?.refusal?.purgeAfter != nil)
            let ticket = try #require(deleted?.refusal?.restoreToken)
            let restored = try await app.client.restoreAccount(ticket)
            #expect(restored.session.uid == person.uid)
            let erasure = try await app.client.erasure(receipt)
            #expect(erasure.status == "restored")
        }
    }
}
