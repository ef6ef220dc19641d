import Accounts
import Administration
import Foundation
import GatehouseTesting
import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// Direct changes of the database, mostly to simulate that time has passed.
extension TestServer {
    func execute(_ sql: StaticString, _ binds: [Bind] = []) async throws {
        _ = try await backend.database.execute(Statement(.write, sql), binds)
    }

    func count(_ sql: StaticString, _ binds: [Bind] = []) async throws -> Int {
        var row = try #require(try await backend.database.execute(Statement(.read, sql), binds).first)
        return try row.next()
    }

    func text(_ sql: StaticString, _ binds: [Bind] = []) async throws -> String? {
        var row = try await backend.database.execute(Statement(.read, sql), binds).first
        return try row?.next()
    }

    func liveSessions(of uid: String) async throws -> Int {
        try await count(
            "SELECT count(*) FROM sessions WHERE uid = $1 AND ended_at IS NULL", [.uuid(UUID(uuidString: uid))])
    }

    /// Moves the creation of every refresh token and the authentication of every session into the past by `time`.
    func letPass(_ time: Duration) async throws {
        let interval = "\(time / .milliseconds(1)) milliseconds"
        try await age("refresh_tokens", "created_at", by: interval)
        try await age("sessions", "authenticated_at", by: interval)
    }

    /// Moves times of a table into the past.
    ///
    /// The subtraction is without a time zone, because Citus evaluates only IMMUTABLE expressions of columns in UPDATE.
    func age(
        _ table: String, _ columns: String..., by interval: String, where condition: String = "true"
    ) async throws {
        let changes = columns.map { "\($0) = (\($0) AT TIME ZONE 'UTC' - interval '\(interval)') AT TIME ZONE 'UTC'" }
        let sql = "UPDATE \(table) SET \(changes.joined(separator: ", ")) WHERE \(condition)"
        try await backend.database.transaction { try await $0.script(sql) }
    }

    /// Returns whether the server answers from its loaded list of ended sessions: without that list it would look up
    /// the session's row, find none and report it as ended.
    func hasLoadedRevocations() async throws -> Bool {
        let (now, application) = (Date(), try await application())
        let token = SessionToken(sessionID: UUID(), issuedAt: Int(now.timeIntervalSince1970), generation: 0)
        return try await !backend.revocations.isRevoked(token, at: now, application: application.id)
    }

    /// Puts off all deliveries of webhooks by an hour, as if they had been given up `time` ago.
    func putOffDeliveries(givenUp time: Duration = .zero) async throws {
        try await eventually("no delivery is under way") {
            try await execute(
                """
                UPDATE webhook_deliveries SET failed_at = now() - $1::interval, due_at = now() + interval '1 hour'
                 WHERE leased_until IS NULL
                """, [.interval(time)])
            // A delivery that has just ended is put off by the next round.
            return try await count(
                """
                SELECT count(*) FROM webhook_deliveries
                 WHERE leased_until IS NOT NULL OR acknowledged_at IS NULL AND failed_at IS NULL
                """) == 0
        }
    }

    private static let blocked: StaticString =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    private static let blockedOnWorkers: StaticString = """
        SELECT sum(result::bigint)::bigint FROM run_command_on_workers($$
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' $$)
        """

    /// Waits until that many statements wait for a lock.
    func awaitBlocked(_ count: Int) async throws {
        let isDistributed = try await TemporaryPostgres.isDistributed
        try await eventually("\(count) wait for a lock") {
            try await self.count(isDistributed ? Self.blockedOnWorkers : Self.blocked) >= count
        }
    }

    /// Makes a call that waits for a person's account until an identity has been linked and proven in the browser.
    func link<Answer: Sendable>(
        _ identity: UUID, inBrowserOf person: Person, during call: @Sendable @escaping () async throws -> Answer
    ) async throws -> Answer {
        let changes: [(Statement, [Bind])] = [
            (Self.addIdentity, [.uuid(identity), .text(identity.uuidString)]),
            (Self.proveInBrowser, [.uuid(identity)]),
        ]
        return try await change(person, by: changes, during: call)
    }

    /// Makes a call that waits for a person's account until changes of it are committed.
    ///
    /// The first bind of each statement is the account's uid; those that are given follow.
    func change<Answer: Sendable>(
        _ person: Person, by changes: [(Statement, [Bind])], during call: @Sendable @escaping () async throws -> Answer
    ) async throws -> Answer {
        let uid = Bind.uuid(UUID(uuidString: person.uid))
        let answer = try await backend.database.transaction { transaction in
            _ = try await transaction.execute(Self.lockAccount, [uid])
            for (statement, binds) in changes { _ = try await transaction.execute(statement, [uid] + binds) }
            // An unstructured task, because the call ends only after this transaction.
            let answer = Task { try await call() }
            try await awaitBlocked(1)
            return answer
        }
        return try await answer.value
    }

    private static let lockAccount = Statement(
        .write, "SELECT uid FROM accounts WHERE application_id = 1 AND uid = $1 FOR UPDATE")
    private static let addIdentity = Statement(
        .write,
        "INSERT INTO identities (application_id, id, uid, provider, provider_uid) VALUES (1, $2, $1, 'google', $3)")
    private static let proveInBrowser = Statement(
        .write, "UPDATE sessions SET identity_id = $2 WHERE application_id = 1 AND uid = $1 AND kind = 'browser'")

    func unlockAll() async throws {
        try await execute("UPDATE password_failures SET locked_until = now() - interval '1 second'")
    }

    var acts: AccountActs { AccountActs(store: backend.store) }

    /// Returns the application `demo`.
    func application() async throws -> Accounts.Application {
        try await application(named: "demo")
    }

    func setDisabled(_ disabled: Bool, _ person: Person) async throws {
        let uid = try #require(UUID(uuidString: person.uid))
        try await acts.setDisabled(disabled, uid: uid, by: Self.operations, in: application())
    }
}
