import Foundation
import Testing

@testable import GatehouseClient

/// A sign-in with Apple ends when the person revokes it at Apple.
struct AppleRevocationTests {
    /// A device on which people revoke what the test says.
    private final class Device: Sendable {
        private let revoked = Locked<Set<String>>([])
        private let listeners = Locked<[AsyncStream<Void>.Continuation]>([])

        func revoke(_ user: String, notifying: Bool) {
            revoked.withLock { _ = $0.insert(user) }
            guard notifying else { return }
            for listener in listeners.withLock({ $0 }) { listener.yield() }
        }

        var accounts: AppleAccounts {
            AppleAccounts(
                isRevoked: { user in self.revoked.withLock { $0.contains(user) } },
                revocations: {
                    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                    self.listeners.withLock { $0.append(continuation) }
                    return stream
                })
        }
    }

    private let device = Device()
    private let storage = MemoryStorage()
    private let transport = ScriptedTransport()

    /// The app after a start, whose session is in the storage.
    private func start() throws -> GatehouseClient {
        var options = GatehouseClient.Options(storage: storage, transport: transport)
        options.appleAccounts = device.accounts
        return GatehouseClient(url: try #require(URL(string: "https://h.example")), options: options)
    }

    /// What `Proof.apple(_:nonce:)` makes of a credential.
    private func proof(of user: String?) -> GatehouseClient.Proof {
        var proof = GatehouseClient.Proof.apple(identityToken: "token")
        proof.appleUser = user
        return proof
    }

    private func waitForSignOut(of client: GatehouseClient) async throws {
        for _ in 0..<500 {
            if try await client.session == nil { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("still signed in")
    }

    @Test func `a notice of Apple signs out, and the server is told`() async throws {
        let client = try start()
        try await client.signIn(proof(of: "001"))
        device.revoke("001", notifying: true)
        try await waitForSignOut(of: client)
        for _ in 0..<500 where transport.sent.last != "/auth/logout" { try await Task.sleep(for: .milliseconds(10)) }
        #expect(transport.sent.last == "/auth/logout" && storage.load() == nil)
    }

    @Test func `a revocation while the app did not run signs out at the next start`() async throws {
        try await start().signIn(proof(of: "001"))
        device.revoke("001", notifying: false)
        try await waitForSignOut(of: start())
        #expect(storage.load() == nil)
    }

    @Test(arguments: [nil, "002"])
    func `a session that Apple has not opened, or for another person, stays`(user: String?) async throws {
        try await start().signIn(proof(of: user))
        device.revoke("001", notifying: false)
        let client = try start()
        let session = try await client.session
        #expect(session != nil)
        if user == nil { device.revoke("001", notifying: true) }
        for _ in 0..<50 { await Task.yield() }
        let kept = try await client.session
        #expect(kept == session && !transport.sent.contains("/auth/logout"))
    }

    @Test func `a session that continues with another identity is not Apple's any more`() async throws {
        let client = try start()
        try await client.signIn(proof(of: "001"))
        transport.next("/auth/reauthenticate", ScriptedTransport.session(count: 7))
        try await client.reauthenticate(.password(email: "ada@example.com", password: "secret"))
        let same = try StoredSession(try #require(storage.load()))
        #expect(same.appleUser == "001", "the server says that it is the same identity")
        transport.next("/auth/identities/email", ScriptedTransport.session(count: 8, providerUid: "ada@example.com"))
        try await client.link(.password(email: "ada@example.com", password: "secret"))
        let other = try StoredSession(try #require(storage.load()))
        #expect(other.appleUser == nil)
    }
}
