import Foundation
import Testing

@testable import GatehouseClient

/// What happens while the storage cannot be written.
struct FullStorageTests {
    /// The stored session is read when it is needed for the first time, which a sign-in is not.
    @Test func `a sign-in before the stored session is read removes that of another person`() async throws {
        let (storage, transport) = (FailingStorage(), ScriptedTransport())
        let options = GatehouseClient.Options(storage: storage, transport: transport, renewsByItself: false)
        let url = try #require(URL(string: "https://h.example"))
        try await GatehouseClient(url: url, options: options).signIn(.anonymous)
        storage.isFull = true
        transport.next("/auth/anonymous", ScriptedTransport.session(count: 2, uid: "other"))
        let next = GatehouseClient(url: url, options: options)
        let signedIn = try await next.signIn(.anonymous)
        #expect(signedIn.session.uid == "other")
        let restarted = GatehouseClient(url: url, options: options)
        #expect(try await restarted.session == nil)
    }
}
