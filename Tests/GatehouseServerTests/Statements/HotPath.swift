import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// A call that apps make often, with its number of round trips to the database.
struct HotPath: Sendable, CustomTestStringConvertible {
    typealias Call = @Sendable () async throws -> APIClient.Answer

    let name: String
    /// The number of times that the server waits for PostgreSQL.
    ///
    /// BEGIN does not count: it is sent together with the next statement.
    let roundTrips: Int
    /// The reason why it is more than one.
    let reason: String
    /// Prepares everything that is not part of the measured call.
    let prepare: @Sendable (HotPathStage) async throws -> Call

    init(
        _ name: String, _ roundTrips: Int, because reason: String = "",
        prepare: @escaping @Sendable (HotPathStage) async throws -> Call
    ) {
        self.name = name
        self.roundTrips = roundTrips
        self.reason = reason
        self.prepare = prepare
    }

    var testDescription: String { name }

    /// The statements that the call sends.
    func statements(on stage: HotPathStage) async throws -> [String] {
        let call = try await prepare(stage)
        try await stage.settle()
        let (answer, statements) = try await stage.observed.log.statements { try await call() }
        #expect((200...204).contains(answer.status), "\(name): \(answer.text)")
        return statements
    }
}

/// A server with a scripted issuer that records each statement.
struct HotPathStage: Sendable {
    let observed: ObservedServer
    let issuer: OpenIDConnectSignInTests.Issuer

    var server: TestServer { observed.server }
    var client: APIClient { observed.client }

    static func with(
        rateLimits: String = "off", _ body: @Sendable @escaping (HotPathStage) async throws -> Void
    ) async throws {
        try await UpstreamServer.with { upstream in
            let issuer = try OpenIDConnectSignInTests.Issuer(upstream)
            let google = "{ kind: oidc, issuer: \"\(upstream.url)\", clientID: client, clientSecret: secret }"
            try await StatementLog.with { log in
                try await TestServer.with(
                    database: log.databaseURL, providers: "google: \(google)", rateLimits: rateLimits
                ) { server in
                    let observed = ObservedServer(server: server, log: log, client: APIClient(server))
                    let stage = HotPathStage(observed: observed, issuer: issuer)
                    try await stage.awaitStart()
                    try await body(stage)
                }
            }
        }
    }

    /// Waits until background services have sent their first statements; after that they send none for minutes.
    private func awaitStart() async throws {
        try await eventually("the services have started") {
            let clock = ContinuousClock()
            return try await observed.log.statements { try await clock.sleep(for: .milliseconds(300)) }.1.isEmpty
        }
    }

    /// Preparations must have ended before the measurement begins.
    func settle() async throws {
        try await eventually("everything is sent") {
            try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
        }
    }

    /// A sign-in with an ID token, as a native app sends it.
    func present(_ token: String) async throws -> APIClient.Answer {
        try await client.post("/auth/oauth/google/token", ["idToken": .string(token)])
    }

    func token(of subject: String) throws -> String {
        try issuer.token([
            "sub": .string(subject), "email": .string("\(subject)@corp.example"), "email_verified": true,
        ])
    }

    /// Requests a code and reads it from the inbox.
    func code(to email: String) async throws -> JSONValue {
        .object(try await client.challenge("email", email, at: server))
    }
}
