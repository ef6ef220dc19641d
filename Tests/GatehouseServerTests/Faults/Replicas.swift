import Foundation
import GatehouseTesting
import Migrations
import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// Two servers on one database, where the second connects with its own role so that a test can select and refuse its
/// connections.
struct Replicas: Sendable {
    let first: TestServer
    let second: TestServer
    private let role: String

    var clients: (first: APIClient, second: APIClient) { (APIClient(first), APIClient(second)) }
    private var database: Database { first.backend.database }

    static func with(
        application: String = "", providers: String = "", rateLimits: String = "off",
        _ body: @Sendable @escaping (Replicas) async throws -> Void
    ) async throws {
        try await TestServer.with(application: application, providers: providers, rateLimits: rateLimits) { first in
            let role = "replica-\(UUID().uuidString)"
            let url = first.databaseURL.replacing(/user=[^&]+/, with: "user=\(role)")
            try await run(createRole, role: role, on: first.backend.database)
            do {
                try await TestServer.with(
                    database: url, application: application, providers: providers, rateLimits: rateLimits
                ) { second in
                    try await body(Replicas(first: first, second: second, role: role))
                }
            } catch {
                try? await run(dropRole, role: role, on: first.backend.database)
                throw error
            }
            try await run(dropRole, role: role, on: first.backend.database)
        }
    }

    // Statements that create or alter a role accept no parameters, so the role's name is passed as a setting of the
    // transaction.
    private static let nameRole = Statement(.write, "SELECT set_config('test.role', $1, true)")
    private static let createRole = Statement(
        .write,
        """
        DO $$ BEGIN
            EXECUTE format('CREATE ROLE %I LOGIN IN ROLE %I', current_setting('test.role'), current_user);
        END $$
        """)
    private static let dropRole = Statement(
        .write, "DO $$ BEGIN EXECUTE format('DROP ROLE %I', current_setting('test.role')); END $$")
    private static let refuseRole = Statement(
        .write, "DO $$ BEGIN EXECUTE format('ALTER ROLE %I CONNECTION LIMIT 0', current_setting('test.role')); END $$")
    private static let admitRole = Statement(
        .write, "DO $$ BEGIN EXECUTE format('ALTER ROLE %I CONNECTION LIMIT -1', current_setting('test.role')); END $$")

    private static func run(_ statement: Statement, role: String, on database: Database) async throws {
        try await database.transaction { transaction in
            _ = try await transaction.execute(nameRole, [.text(role)])
            _ = try await transaction.execute(statement, [])
        }
    }

    private static let endListener = Statement(
        .write,
        """
        SELECT count(pg_terminate_backend(pid))
          FROM pg_stat_activity
         WHERE usename = $1 AND (query LIKE 'LISTEN %' OR query = 'SELECT 1')
        """)

    private static let endAll = Statement(
        .write, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = $1")

    /// Closes the connection on which the second server listens for revocations and returns the number of closed
    /// connections.
    @discardableResult
    func cutListener() async throws -> Int {
        var row = try #require(try await database.execute(Self.endListener, [.text(role)]).first)
        return try row.next()
    }

    /// Closes the connection on which the second server listens, keeps its other connections and refuses new ones.
    func deafen() async throws {
        _ = try await eventually("the replica listens") { second.backend.channel.isCurrent }
        try await Self.run(Self.refuseRole, role: role, on: database)
        try await #require(cutListener() >= 1)
    }

    /// Closes all of the second server's connections and refuses new ones.
    func cutOff() async throws {
        try await Self.run(Self.refuseRole, role: role, on: database)
        _ = try await database.execute(Self.endAll, [.text(role)])
    }

    func readmit() async throws {
        try await Self.run(Self.admitRole, role: role, on: database)
    }
}

extension APIClient {
    /// Returns the status of a call that only checks whether the bearer's session is open.
    func status(of bearer: String) async throws -> Int {
        try await get("/auth/sessions", bearer: bearer).status
    }

    /// Returns when the last request that was accepted began, counted from the call; later ones are refused.
    ///
    /// A slow machine delays answers, so the time of the refusal says nothing. The replica may also answer 503.
    func timeToRefusal(of bearer: String) async throws -> Duration {
        let start = ContinuousClock.now
        var lastAccepted: Duration = .zero
        try await eventually("the bearer is refused") {
            let began = ContinuousClock.now - start
            let status = try await status(of: bearer)
            #expect([200, 401, 503].contains(status))
            if status == 200 { lastAccepted = began }
            return status == 401
        }
        return lastAccepted
    }
}
