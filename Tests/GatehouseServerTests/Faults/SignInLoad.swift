import NIOHTTP1
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// Clients that sign in, refresh and log out without a pause, and record the responses.
final class SignInLoad: Sendable {
    struct Session: Sendable {
        let accessToken: String
        let refreshToken: String
    }

    struct Tally: Sendable {
        var served = 0
        var refused = 0
        var slowest: Duration = .zero
        /// Responses that are neither a success nor a well-formed 503.
        var oddities: [String] = []
        /// The latest tokens of sessions for which no logout was sent.
        var live: [Session] = []
        /// Sessions whose logout was acknowledged.
        var ended: [Session] = []
    }

    private let client: APIClient
    private let person: Person
    private let state = Mutex(Tally())
    private let isOver = Atomic(false)

    init(client: APIClient, person: Person) {
        self.client = client
        self.person = person
    }

    var tally: Tally { state.withLock { $0 } }

    func stop() { isOver.store(true, ordering: .relaxed) }

    func awaitServed(_ count: Int) async throws {
        try await eventually("\(count) calls are served") { self.tally.served >= count }
    }

    func awaitRefused(_ count: Int) async throws {
        try await eventually("\(count) calls are refused") { self.tally.refused >= count }
    }

    /// Runs one client: in turn a guest who stays signed in and a person who logs out.
    func run() async throws {
        while !isOver.load(ordering: .relaxed) {
            if let session = try await signIn(asGuest: true) {
                let refreshed = try await refresh(session)
                state.withLock { $0.live.append(refreshed) }
            }
            if let session = try await signIn(asGuest: false), try await logOut(session) {
                state.withLock { $0.ended.append(session) }
            }
        }
    }

    private func signIn(asGuest: Bool) async throws -> Session? {
        try await call(expecting: 200) {
            asGuest
                ? try await self.client.post("/auth/anonymous")
                : try await self.client.login(self.person.email, self.person.password)
        }.map(Session.init)
    }

    /// Refreshes a session; if the call fails, returns the old one, whose refresh token still returns the same
    /// successor if the server did rotate it.
    private func refresh(_ session: Session) async throws -> Session {
        let answer = try await call(expecting: 200) { try await self.client.refresh(session.refreshToken) }
        return try answer.map(Session.init) ?? session
    }

    private func logOut(_ session: Session) async throws -> Bool {
        try await call(expecting: 204) {
            try await self.client.post("/auth/logout", bearer: session.accessToken)
        } != nil
    }

    /// Returns the response if it has the expected status.
    private func call(
        expecting status: Int, _ body: @Sendable () async throws -> APIClient.Answer
    ) async throws -> APIClient.Answer? {
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try await body()
        let elapsed = clock.now - start
        state.withLock { tally in
            tally.slowest = max(tally.slowest, elapsed)
            if answer.status == status {
                tally.served += 1
            } else if answer.isWellFormedRefusal {
                tally.refused += 1
            } else {
                tally.oddities.append("\(answer.status) \(answer.text)")
            }
        }
        return answer.status == status ? answer : nil
    }
}

extension SignInLoad.Session {
    fileprivate init(_ answer: APIClient.Answer) throws {
        accessToken = try #require(answer["accessToken"].string)
        refreshToken = try #require(answer["refreshToken"].string)
    }
}
