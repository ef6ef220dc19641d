import Accounts
import Foundation
import Postgres
import Storage
import Synchronization

/// The server's own statement that rotates a refresh token, run by pgbench against the server's own database.
///
/// The statement's hashes are computed in SQL from numbers: each client walks along a chain of tokens of its own, as
/// clients of the server do.
struct PgbenchRotation: Sendable {
    /// More tokens than a client rotates in one run.
    private static let chainLength: Int64 = 1_000_000

    /// SQL for the statement's parameters, by their numbers.
    private static let parameters = [
        1: ":application::int4", 2: "sha256(int8send(:token::int8))", 3: "sha256(int8send(:successor::int8))",
        4: "sha256(int8send(:after::int8))", 5: ":reuse::interval", 6: ":lifetime::interval",
        7: ":recovery::interval", 8: "NULL::text", 9: "NULL::text", 10: "NULL::text", 11: "'{}'::text[]",
        12: "NULL::text", 13: "'{}'::text[]", 14: "'{}'::text[]", 15: "false", 16: "'{}'::text[]",
        17: "'{}'::text[]",
    ]

    private let stage: Stage
    private let application: Application
    private let pgbench: Pgbench

    init(stage: Stage, application: Application) throws {
        self.stage = stage
        self.application = application
        let statement = Pgbench.statement(SQLStore.rotate.text.description, with: Self.parameters)
        let script = try stage.write(
            """
            \\set token :first + :client_id * \(Self.chainLength) + :position
            \\set successor :token + 1
            \\set after :token + 2
            \(statement);
            \\set position :position + 1
            """, to: "rotation-\(application.name).sql")
        pgbench = try Pgbench(script: script, databaseURL: stage.databaseURL)
    }

    func contender(seconds: Double) -> Contender {
        Contender(name: "pgbench, the same statement", seconds: seconds) {
            let first = Self.chains.withLock { next in
                defer { next += Int64(Pgbench.clients) * Self.chainLength }
                return next
            }
            try await stage.seeder.openSessions(
                withTokensOf: (0..<Pgbench.clients).map { first + Int64($0) * Self.chainLength },
                for: stage.people(of: application), in: application)
            let before = try await stage.seeder.refreshTokenCount()
            return { seconds in
                let count = try await pgbench.run(seconds: seconds, variables: variables(from: first))
                let rotated = try await stage.seeder.refreshTokenCount() - before
                guard rotated >= count.done else { throw BenchError("pgbench's statement rotates nothing") }
                return Count(perSecond: count.perSecond, isLoadOfOneThread: true)
            }
        }
    }

    /// The number of the first token of the next run.
    private static let chains = Mutex<Int64>(0)

    private func variables(from first: Int64) -> [String: String] {
        let policy = application.policy.tokens
        return [
            "application": "\(application.id)", "first": "\(first)", "position": "0",
            "reuse": "\(policy.refreshReuseInterval.components.seconds) seconds",
            "recovery": "\(policy.refreshRecovery.components.seconds) seconds",
            "lifetime": "\(policy.refreshLifetime.components.seconds) seconds",
        ]
    }
}
