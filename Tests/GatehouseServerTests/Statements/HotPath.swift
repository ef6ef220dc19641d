import Foundation
import GatehouseTesting
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// A call that apps make often, with its numbers of round trips to the database and of statements.
struct HotPath: Sendable, CustomTestStringConvertible {
    typealias Call = @Sendable () async throws -> APIClient.Answer

    let name: String
    /// The number of times that the call waits for PostgreSQL; statements that are sent together count once.
    let roundTrips: Int
    /// The number of statements, including COMMIT but not BEGIN.
    let statements: Int
    /// The reason why there is more than one round trip.
    let reason: String
    /// Prepares everything that is not part of the measured call.
    let prepare: @Sendable (HotPathStage) async throws -> Call

    init(
        _ name: String, _ roundTrips: Int, statements: Int? = nil, because reason: String = "",
        prepare: @escaping @Sendable (HotPathStage) async throws -> Call
    ) {
        self.name = name
        self.roundTrips = roundTrips
        self.statements = statements ?? roundTrips
        self.reason = reason
        self.prepare = prepare
    }

    var testDescription: String { name }

    typealias Measurement = (statements: [String], waits: Int)

    /// Measures until neither count is above the stated one: if one is, a background service may have run.
    ///
    /// `further` is the number of statements, each with a round trip, that the call sends in addition to the stated ones.
    func undisturbed(on stage: HotPathStage, further: Int = 0) async throws -> Measurement {
        var measured = try await measure(on: stage)
        for _ in 0..<20
        where measured.waits > roundTrips + further || measured.statements.count > statements + further {
            measured = try await measure(on: stage)
        }
        return measured
    }

    /// Returns the statements that the call sends, and how often any caller of the database waited meanwhile.
    ///
    /// No notification arrives meanwhile, so the call wakes no background service. One may still run at the same time by
    /// its own schedule, and then adds to both counts.
    func measure(on stage: HotPathStage) async throws -> Measurement {
        let call = try await prepare(stage)
        try await stage.settle()
        let database = stage.server.backend.database
        stage.proxy.turn(.droppingNotifications)
        let before = database.statistics.roundTrips
        let ((answer, waits), statements) = try await stage.observed.log.statements {
            let answer = try await call()
            return (answer, database.statistics.roundTrips - before)
        }
        stage.proxy.turn(.forwarding)
        try await stage.server.execute("SELECT pg_notify('gatehouse', 'outbox')")
        #expect((200...204).contains(answer.status) || answer.status == 303, "\(name): \(answer.text)")
        return (statements.filter { !$0.hasPrefix("BEGIN") }, waits)
    }
}

/// A server with a scripted issuer that records each statement.
struct HotPathStage: Sendable {
    let observed: ObservedServer
    let proxy: DatabaseProxy
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
                let proxy = try DatabaseProxy(before: log.databaseURL)
                defer { proxy.stop() }
                try await TestServer.with(
                    database: DatabaseProxy.url(log.databaseURL, by: [proxy]),
                    application: RelyingParty.instances(with: Device.configuration)
                        + "\nredirectURIs: [\"\(ImmichApp.redirectURI)\"]"
                        + "\ndialects: { immich: { provider: scripted } }",
                    providers: "google: \(google)\nscripted: {}", rateLimits: rateLimits
                ) { server in
                    let observed = ObservedServer(server: server, log: log, client: APIClient(server))
                    let stage = HotPathStage(observed: observed, proxy: proxy, issuer: issuer)
                    try await stage.awaitStart()
                    try await body(stage)
                }
            }
        }
    }

    /// Waits until background services have sent their first statements.
    ///
    /// They repeat them later, every few seconds or minutes.
    private func awaitStart() async throws {
        try await eventually("the services have started") {
            let clock = ContinuousClock()
            return try await observed.log.statements { try await clock.sleep(for: .milliseconds(300)) }.1.isEmpty
        }
    }

    /// Preparations, and the background services that they woke, must have ended before the measurement begins.
    func settle() async throws {
        try await eventually("everything is sent") {
            try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
        }
        try await eventually("the audit is sealed, which happens every second") {
            try await server.count("SELECT count(*) FROM audit_events WHERE batch IS NULL") == 0
        }
        try await eventually("no service waits for the database") {
            let before = server.backend.database.statistics.roundTrips
            try await Task.sleep(for: .milliseconds(50))
            return server.backend.database.statistics.roundTrips == before
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
