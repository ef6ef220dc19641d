import Accounts
import Foundation
import Postgres
import Storage
import Synchronization

/// The server's own statement that rotates refresh tokens together, run by pgbench against the server's own database.
///
/// The statement's hashes are computed in SQL from numbers: each token starts a chain of tokens of its own, as those of
/// the server's clients do.
struct PgbenchRotation: Sendable {
    /// More tokens than a chain has in one run.
    private static let chainLength: Int64 = 1_000_000
    /// Tokens in a statement; with 64 connections, each of the server's four statements has as many.
    private static let width = 16
    private static let chains = Pgbench.clients * width

    /// SQL for the statement's parameters, by their numbers.
    private static let parameters = [
        1: ":application::int4", 2: hashes(of: ":token::int8"), 3: "'{}'::text[]", 4: "NULL::text", 5: "'{}'::text[]",
        6: "'{}'::text[]", 7: "false", 8: "'{}'::text[]", 9: "'{}'::text[]", 10: hashes(of: ":token::int8 + 1"),
        11: "make_interval(secs => :lifetime)", 12: "NULL::text", 13: "NULL::text",
    ]

    private static func hashes(of token: String) -> String {
        """
        ARRAY(SELECT sha256(int8send(\(token) + chain * \(chainLength)::int8))
                FROM generate_series(0, \(width - 1)) AS chain ORDER BY chain)
        """
    }

    private let stage: Stage
    private let application: Application
    private let pgbench: Pgbench

    init(stage: Stage, application: Application) throws {
        self.stage = stage
        self.application = application
        let statement = Pgbench.statement(FirstRotation.rotate.text.description, with: Self.parameters)
        let script = try stage.write(
            """
            \\set token :first + :client_id * \(Self.chainLength * Int64(Self.width)) + :position
            \(statement);
            \\set position :position + 1
            """, to: "rotation-\(application.name).sql")
        pgbench = try Pgbench(script: script, databaseURL: stage.databaseURL)
    }

    func contender(seconds: Double) -> Contender {
        Contender(name: "pgbench, the same statement with \(Self.width) tokens", seconds: seconds) {
            let first = Self.first.withLock { next in
                defer { next += Int64(Self.chains) * Self.chainLength }
                return next
            }
            try await stage.seeder.openSessions(
                withTokensOf: (0..<Self.chains).map { first + Int64($0) * Self.chainLength },
                for: stage.people(of: application), in: application)
            let before = try await stage.seeder.refreshTokenCount()
            return { seconds in
                let count = try await pgbench.run(seconds: seconds, variables: variables(from: first))
                let rotated = try await stage.seeder.refreshTokenCount() - before
                guard rotated >= count.done * Self.width else {
                    throw BenchError("pgbench's statement does not rotate all tokens")
                }
                return Count(perSecond: count.perSecond * Double(Self.width), isLoadOfOneThread: true)
            }
        }
    }

    /// The number of the first token of the next run.
    private static let first = Mutex<Int64>(0)

    private func variables(from first: Int64) -> [String: String] {
        [
            "application": "\(application.id)", "first": "\(first)", "position": "0",
            "lifetime": "\(application.policy.tokens.refreshLifetime.components.seconds)",
        ]
    }
}
