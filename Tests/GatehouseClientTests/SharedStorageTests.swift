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

    @Test func `a refresh keeps what another process has stored about the account`() async throws {
        let app = try await signedIn(expiresIn: 0)
        let other = try process()
        transport.next("/auth/me", ScriptedTransport.account(displayName: "Ada"))
        try await other.updateUser(displayName: "Ada")
        _ = try await app.accessToken()
        let stored = try storage.load().map { try StoredSession($0) }
        #expect(stored?.session.user.displayName == "Ada")
        #expect(try await app.session?.user.displayName == "Ada")
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

    @Test(arguments: [nil, "v"])
    func `resume returns the session that another process has stored, if there is one`(person: String?) async throws {
        let app = try await signedIn(expiresIn: 0)
        if let person {
            transport.next("/auth/anonymous", ScriptedTransport.session(count: 9, uid: person, expiresIn: 3600))
            try await process().signIn(.anonymous)
        } else {
            storage.remove()
        }
        let resumed = try await app.resume()
        #expect(resumed?.uid == person && transport.refreshTokens.isEmpty)
        let stored = try storage.load().map { try StoredSession($0) }
        #expect(stored?.session.uid == person)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a refused refresh goes on with the session that the person has opened in another process`() async throws {
        let app = try await signedIn(expiresIn: 0)
        var changes = app.changes.makeAsyncIterator()
        _ = await changes.next()
        let other = try process()
        transport.interrupt("/auth/refresh") { [transport] in
            try await other.signOut()
            transport.next("/auth/anonymous", ScriptedTransport.session(count: 9, expiresIn: 3600))
            try await other.signIn(.anonymous)
            transport.next("/auth/refresh", ScriptedTransport.refusal(401, "INVALID_REFRESH_TOKEN"))
        }
        transport.next("/auth/me", ScriptedTransport.account(displayName: "Ada"))
        try await app.updateUser(displayName: "Ada")
        #expect(transport.refreshTokens.first == "r1" && transport.refreshTokens.last == "r9")
        let stored = try storage.load().map { try StoredSession($0) }
        #expect(stored?.session.uid == "u" && stored?.refreshToken.value != "r9")
        guard case .updated? = await changes.next() else {
            Issue.record("the session has not gone on")
            return
        }
    }

    /// The server would take the repeated token for a stolen one, and end the session.
    @Test(.timeLimit(.minutes(1)))
    func `a refresh without an answer goes on with the refresh token of another process`() async throws {
        let app = try await signedIn(expiresIn: 0)
        let other = try process()
        transport.interrupt("/auth/refresh") {
            for _ in 1...2 { _ = try await other.accessToken() }
            throw GatehouseError.network(.timedOut)
        }
        _ = try await app.accessToken()
        #expect(Array(transport.refreshTokens.prefix(1)) == ["r1"])
        #expect(transport.refreshTokens.filter { $0 == "r1" }.count == 2, "\(transport.refreshTokens)")
    }

    @Test(.timeLimit(.minutes(1))) func `refusals of ever newer refresh tokens end the session`() async throws {
        let app = try await signedIn(expiresIn: 0)
        let other = try process()
        @Sendable func signInAgain() async throws {
            try await other.signIn(.anonymous)
            transport.next("/auth/refresh", ScriptedTransport.refusal(401, "INVALID_REFRESH_TOKEN"))
            transport.interrupt("/auth/refresh", signInAgain)
        }
        transport.interrupt("/auth/refresh", signInAgain)
        let failure = await #expect(throws: GatehouseError.self) { try await app.accessToken() }
        #expect(failure?.code == .invalidRefreshToken && transport.refreshTokens.count == 4)
        let session = try await app.session
        #expect(session == nil)
    }

    /// When a process reads in the storage what another process has done.
    enum Moment: CaseIterable {
        case refresh, answerToRefresh, refusedRefresh, changeOfAccount
    }

    @Test(.timeLimit(.minutes(1)), arguments: Moment.allCases, [nil, "v"])
    func `a sign-out in another process, or its sign-in of another person, stays`(
        moment: Moment, person: String?
    ) async throws {
        let app = try await signedIn(expiresIn: moment == .changeOfAccount ? 3600 : 0)
        let other = try process()
        var changes = app.changes.makeAsyncIterator()
        guard case .signedIn? = await changes.next() else {
            Issue.record("not signed in")
            return
        }
        let act: @Sendable () async throws -> Void = { [storage, transport] in
            // The storage is empty after a sign-out, also after one without a network.
            guard let person else { return storage.remove() }
            transport.next("/auth/anonymous", ScriptedTransport.session(count: 9, uid: person, expiresIn: 3600))
            try await other.signIn(.anonymous)
        }
        switch moment {
        case .refresh, .changeOfAccount: try await act()
        case .answerToRefresh: transport.interrupt("/auth/refresh", act)
        case .refusedRefresh:
            transport.interrupt("/auth/refresh") { [transport] in
                try await act()
                transport.next("/auth/refresh", ScriptedTransport.refusal(401, "INVALID_REFRESH_TOKEN"))
            }
        }
        if moment == .changeOfAccount {
            transport.next("/auth/me", ScriptedTransport.account(displayName: "Ada"))
            try await app.updateUser(displayName: "Ada")
        } else {
            let failure = await #expect(throws: GatehouseError.self) { try await app.accessToken() }
            #expect(failure?.code == .signedOut)
        }
        #expect(transport.refreshTokens.count == ([.answerToRefresh, .refusedRefresh].contains(moment) ? 1 : 0))
        let stored = try storage.load().map { try StoredSession($0) }
        #expect(stored?.session.uid == person)
        guard case .signedOut(.elsewhere)? = await changes.next() else {
            Issue.record("the end of the session is not reported")
            return
        }
        let present = try await app.session
        #expect(present?.uid == person)
        guard let person else { return }
        guard case .signedIn(let session)? = await changes.next() else {
            Issue.record("the other person's session is not reported")
            return
        }
        #expect(session.uid == person)
    }
}
