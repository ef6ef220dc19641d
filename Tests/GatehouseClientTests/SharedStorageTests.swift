import Foundation
import Testing

@testable import GatehouseClient

/// Processes that share a storage, such as an app and its extension.
struct SharedStorageTests {
    private let storage = MemoryStorage()
    private let transport = ScriptedTransport()

    /// A process of the app, which reads the session from the storage.
    private func process() throws -> GatehouseClient {
        let options = GatehouseClient.Options(storage: storage, transport: transport)
        return GatehouseClient(url: try #require(URL(string: "https://h.example")), options: options)
    }

    /// A process that has signed in; by default its access token lasts for the whole test.
    private func signedIn(expiresIn: Int = 3600) async throws -> GatehouseClient {
        let client = try process()
        transport.next("/auth/anonymous", ScriptedTransport.session(count: 1, expiresIn: expiresIn))
        try await client.signIn(.anonymous)
        return client
    }

    @Test func `a change of the account leaves the refresh token of another process stored`() async throws {
        let app = try await signedIn()
        let other = try process()
        for _ in 1...2 { _ = try await other.accessToken() }
        transport.next("/auth/me", ScriptedTransport.account(displayName: "Ada"))
        try await app.updateUser(displayName: "Ada")
        let restarted = try process()
        let session = try await restarted.session
        #expect(session?.user.displayName == "Ada")
        _ = try await restarted.accessToken()
        #expect(transport.refreshTokens == ["r1", "r2", "r3"])
    }

    @Test(arguments: [GatehouseClient.SignOutScope.local, .global])
    func `a sign-out presents the refresh token of another process`(
        scope: GatehouseClient.SignOutScope
    ) async throws {
        let app = try await signedIn()
        let other = try process()
        for _ in 1...2 { _ = try await other.accessToken() }
        try await app.signOut(scope)
        #expect(transport.refreshTokens == ["r1", "r2", "r3"] && storage.load() == nil)
    }
}
