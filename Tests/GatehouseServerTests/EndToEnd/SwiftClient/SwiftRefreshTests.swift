import Foundation
import GatehouseClient
import Testing

@testable import GatehouseServer

/// The Swift client library renews access tokens with one refresh at a time, whatever happens to the answers.
struct SwiftRefreshTests {
    /// Makes a client believe that its access token has expired.
    static let expired = FailingTransport.Failure.changed { text in
        text.replacing(/"expiresIn":[0-9]+/, with: "\"expiresIn\":0")
    }

    /// Gives a client an access token that the server refuses, as it does an expired one.
    static let refused = FailingTransport.Failure.changed { text in
        text.replacing(/"accessToken":"[^"]+"/, with: "\"accessToken\":\"expired\"")
    }

    static func with(
        _ failure: FailingTransport.Failure, timeout: Duration = .seconds(90), renewsByItself: Bool = false,
        _ body: @Sendable @escaping (TestServer, SwiftApp) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            let app = try SwiftApp(server, timeout: timeout, renewsByItself: renewsByItself)
            app.transport.next("/auth/anonymous", failure)
            try await app.client.signIn(.anonymous)
            try await body(server, app)
        }
    }

    @Test(arguments: [true, false])
    func `a thousand calls with an expired token cause one refresh`(isKnown: Bool) async throws {
        try await Self.with(isKnown ? Self.expired : Self.refused) { server, app in
            let uid = try await app.client.session?.uid
            let users = try await atOnce(1000) { try await app.client.user().id }
            #expect(Set(users) == [uid])
            #expect(app.transport.count("/auth/refresh") == 1)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 2)
            #expect(!app.changes.kinds.contains { $0.hasPrefix("ended") }, "\(app.changes.kinds)")
            let user = try await app.client.user()
            #expect(user.id == uid && app.transport.count("/auth/refresh") == 1)
        }
    }

    @Test func `a refresh whose answer is lost is sent again with the same token`() async throws {
        try await Self.with(Self.expired) { server, app in
            app.transport.next("/auth/refresh", .lostAnswer, .lostRequest, .lostAnswer)
            let uid = try await app.client.user().id
            let refreshes = app.transport.sent.filter { $0.path == "/auth/refresh" }
            #expect(refreshes.count == 4 && Set(refreshes.map(\.body)).count == 1)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 2)
            let restarted = try SwiftApp(server, storage: app.storage)
            let session = try await restarted.client.resume()
            #expect(session?.uid == uid, "the successor is stored")
        }
    }

    @Test func `no failure but a refusal of the refresh token signs out`() async throws {
        let page = Data("<html>Sign in to this network</html>".utf8)
        let failures: [(FailingTransport.Failure, GatehouseError.Code)] = [
            (.lostRequest, .networkError), (.lostAnswer, .networkError),
            (.answer(.init(status: 401, body: page)), .unexpectedAnswer),
            (.answer(.init(status: 302, headers: ["Location": "https://elsewhere.example"])), .unexpectedAnswer),
            (.answer(.init(status: 500, body: page)), .unexpectedAnswer),
            (.answer(Self.refusal(503, "OVERLOADED")), .overloaded),
            (.answer(Self.refusal(429, "RATE_LIMITED")), .rateLimited),
            (.answer(Self.refusal(400, "HTTPS_REQUIRED")), .httpsRequired),
        ]
        try await Self.with(Self.expired) { server, app in
            let session = try await app.client.session
            for (cause, code) in failures {
                app.transport.always("/auth/refresh", cause)
                let failure = await #expect(throws: GatehouseError.self) { try await app.client.user() }
                #expect(failure?.code == code)
                try await app.changes.wait(for: "refreshFailed \(code.rawValue)")
                let kept = try await app.client.session
                #expect(kept == session && !app.storage.isEmpty)
            }
            app.transport.always("/auth/refresh", nil)
            let user = try await app.client.user()
            #expect(user.id == session?.uid)
        }
    }

    @Test func `a call that is asked to wait waits, but not for an hour`() async throws {
        try await Self.with(.changed { $0 }) { server, app in
            let clock = ContinuousClock()
            app.transport.next("/auth/me", .answer(Self.refusal(503, "OVERLOADED", retryAfter: "1")))
            let start = clock.now
            try await app.client.user()
            #expect(clock.now - start >= .seconds(1) && app.transport.count("/auth/me") == 2)
            app.transport.next("/auth/me", .answer(Self.refusal(503, "OVERLOADED", retryAfter: "3600")))
            let failure = await #expect(throws: GatehouseError.self) { try await app.client.user() }
            #expect(failure?.code == .overloaded && failure?.retryAfter == .seconds(3600))
        }
    }

    @Test func `no refresh is sent until the pause has passed that the server asked for`() async throws {
        try await Self.with(Self.expired) { server, app in
            let busy = GatehouseClient.Response(status: 503, headers: ["Retry-After": "3600"], body: Data("Busy".utf8))
            app.transport.next("/auth/refresh", .answer(busy))
            for _ in 0..<3 {
                let failure = await #expect(throws: GatehouseError.self) { try await app.client.user() }
                #expect(failure?.code == .unexpectedAnswer && failure?.retryAfter == .seconds(3600))
            }
            #expect(app.transport.count("/auth/refresh") == 1 && app.transport.count("/auth/me") == 0)
            let session = try await app.client.session
            #expect(session != nil)
            // Another sign-in has tokens of its own.
            try await app.client.signIn(.anonymous)
            try await app.client.user()
        }
    }

    /// 80 % of five seconds pass before the refresh.
    @Test func `a client that renews by itself does so before the token expires`() async throws {
        let short = FailingTransport.Failure.changed { text in
            text.replacing(/"expiresIn":[0-9]+/, with: "\"expiresIn\":5")
        }
        try await Self.with(short, renewsByItself: true) { server, app in
            let first = try await app.client.accessToken()
            try await eventually("the token is renewed") { app.transport.count("/auth/refresh") == 1 }
            try await eventually("the new token is used") { (try? await app.client.accessToken()) != first }
            #expect(app.transport.count("/auth/refresh") == 1 && app.transport.count("/auth/me") == 0)
        }
    }

    @Test func `the late answer to a refresh costs nothing`() async throws {
        try await Self.with(Self.expired, timeout: .seconds(2)) { server, app in
            let uid = try await app.client.session?.uid
            app.transport.next("/auth/refresh", .lateAnswer(.seconds(600)), .lateAnswer(.seconds(600)))
            let failure = await #expect(throws: GatehouseError.self) { try await app.client.user() }
            #expect(failure?.code == .networkError)
            let user = try await app.client.user()
            #expect(user.id == uid)
            let refreshes = app.transport.sent.filter { $0.path == "/auth/refresh" }
            #expect(refreshes.count == 3 && Set(refreshes.map(\.body)).count == 1)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 2)
        }
    }

    @Test func `a server that answers late is given up, and the session is kept`() async throws {
        try await Self.with(.changed { $0 }, timeout: .seconds(3)) { server, app in
            app.transport.next("/auth/me", .late(.seconds(600)))
            let failure = await #expect(throws: GatehouseError.self) { try await app.client.user() }
            guard case .network(.timedOut)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            let session = try await app.client.session
            #expect(session != nil)
        }
    }

    @Test func `an answer that arrives after a sign-out opens nothing`() async throws {
        try await Self.with(Self.expired) { server, app in
            app.transport.next("/auth/refresh", .late(.milliseconds(500)))
            let call = Task { try await app.client.user() }
            try await eventually("the refresh is under way") { app.transport.count("/auth/refresh") == 1 }
            try await app.client.signOut()
            let failure = await #expect(throws: GatehouseError.self) { try await call.value }
            #expect(failure?.code == .signedOut)
            let session = try await app.client.session
            #expect(session == nil && app.storage.isEmpty)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE ended_at IS NULL") == 0)
        }
    }

    /// The device's clock is an hour wrong if all times of the server are: the library reads neither them nor its own.
    @Test(arguments: [-3600, 3600])
    func `a clock that is wrong by an hour neither expires a token nor keeps one`(seconds: Int) async throws {
        let shifted = FailingTransport.Failure.changed { text in
            text.replacing(/"(expires|createdAt)":([0-9]+)/) { match in
                "\"\(match.output.1)\":\((Int(match.output.2) ?? 0) + seconds)"
            }
        }
        try await Self.with(shifted) { server, app in
            try await app.client.user()
            #expect(app.transport.count("/auth/refresh") == 0 && app.transport.count("/auth/me") == 1)
        }
    }

    @Test func `a full storage is reported, and the session goes on`() async throws {
        try await TestServer.with { server in
            let storage = LimitedStorage()
            storage.isFull = true
            let app = try SwiftApp(server, storage: storage)
            try await app.client.signIn(.anonymous)
            try await eventually("the failure is reported") {
                app.changes.kinds.contains("storageFailed STORAGE_ERROR")
            }
            let user = try await app.client.user()
            storage.isFull = false
            try await app.client.updateUser(displayName: "Ada")
            try await eventually("the success is reported") { app.changes.kinds.contains("stored") }
            let restarted = try SwiftApp(server, storage: storage)
            let session = try await restarted.client.resume()
            #expect(session?.uid == user.id)
        }
    }

    @Test func `a storage that fills up at a refresh keeps no refresh token that would end the session`() async throws {
        try await Self.with(.changed { $0 }) { server, app in
            let stored = app.storage.load()
            app.storage.isFull = true
            let first = try await app.client.accessToken()
            let second = try await app.client.accessToken(insteadOf: first)
            // The server accepts the token before the present one once more.
            #expect(app.storage.load() == stored && stored != nil)
            try await server.letPass(.seconds(60))
            let third = try await app.client.accessToken(insteadOf: second)
            #expect(app.storage.isEmpty && third != second)
            app.storage.isFull = false
            let user = try await app.client.updateUser(displayName: "Ada")
            try await eventually("the success is reported") { app.changes.kinds.contains("stored") }
            #expect(app.changes.kinds.count { $0.hasPrefix("storageFailed") } == 1, "it is reported once")
            let restarted = try SwiftApp(server, storage: app.storage)
            let session = try await restarted.client.resume()
            #expect(session?.uid == user.id)
        }
    }

    @Test func `a full storage does not keep the session of the person before`() async throws {
        try await Self.with(.changed { $0 }) { server, app in
            app.storage.isFull = true
            try await app.client.signIn(.anonymous)
            #expect(app.storage.isEmpty)
        }
    }

    static func refusal(_ status: Int, _ code: String, retryAfter: String? = nil) -> GatehouseClient.Response {
        let headers = retryAfter.map { ["Retry-After": $0] } ?? [:]
        let body = Data(#"{"error":{"code":"\#(code)","message":"Later"}}"#.utf8)
        return GatehouseClient.Response(status: status, headers: headers, body: body)
    }
}
