import Foundation
import Testing

@testable import GatehouseClient

/// Signing out after the server has ended the session of the client.
struct SignOutTests {
    private let storage = MemoryStorage()
    private let transport = ScriptedTransport()

    /// The app after a start; without an access token, each sign-out needs a refresh.
    private func restarted() async throws -> GatehouseClient {
        var options = GatehouseClient.Options(storage: storage, transport: transport)
        options.firstPause = .milliseconds(1)
        let url = try #require(URL(string: "https://h.example"))
        try await GatehouseClient(url: url, options: options).signIn(.anonymous)
        return GatehouseClient(url: url, options: options)
    }

    @Test func `succeeds for this session alone`() async throws {
        let client = try await restarted()
        transport.next("/auth/refresh", ScriptedTransport.refusal(401, "INVALID_REFRESH_TOKEN"))
        try await client.signOut()
        #expect(transport.sent == ["/auth/anonymous", "/auth/refresh"] && storage.load() == nil)
    }

    @Test(arguments: [(401, "INVALID_REFRESH_TOKEN"), (403, "ACCOUNT_DISABLED")])
    func `fails for all sessions of the account, of which it reaches none`(status: Int, code: String) async throws {
        let client = try await restarted()
        transport.next("/auth/refresh", ScriptedTransport.refusal(status, code))
        let failure = await #expect(throws: GatehouseError.self) { try await client.signOut(.global) }
        #expect(failure?.code.rawValue == code)
        #expect(transport.sent == ["/auth/anonymous", "/auth/refresh"] && storage.load() == nil)
    }

    @Test func `succeeds for all sessions of the account if only the answer was lost`() async throws {
        let client = try await restarted()
        transport.interrupt("/auth/logout") { throw GatehouseError.NetworkFailure.connectionLost }
        transport.next("/auth/logout", ScriptedTransport.refusal(401, "INVALID_TOKEN"))
        try await client.signOut(.global)
        #expect(transport.sent.suffix(3) == ["/auth/refresh", "/auth/logout", "/auth/logout"])
    }
}
