import Accounts
import Postgres
import Storage

/// Runs the server's own statements of a first sign-in with pgbench on the server's own database.
struct PgbenchSignUp: Sendable {
    enum Kind: String {
        /// The account is created without a lookup.
        case guest = "anonymous"
        /// The identity is looked up before the account is created.
        case token = "loopback"
    }

    private let stage: Stage
    private let pgbench: Pgbench
    private let application: Application

    init(_ kind: Kind, stage: Stage, application: Application) throws {
        self.stage = stage
        self.application = application
        let create = Pgbench.statement(SQLStore.createAccount.text.description, with: Self.parameters(kind))
        let look = Pgbench.statement(SQLStore.selectLinkingState.text.description, with: Self.lookParameters(kind))
        let statements = kind == .guest ? [create] : [look, create]
        let draw = #"\set person random(1, 9000000000000000000)"#
        let script = try stage.write(
            ([draw] + statements.map { $0 + ";" }).joined(separator: "\n") + "\n", to: "sign-up-\(kind.rawValue).sql")
        pgbench = try Pgbench(script: script, databaseURL: stage.databaseURL)
    }

    func contender(seconds: Double) -> Contender {
        Contender(name: "pgbench, the same statements", seconds: seconds) {
            let before = try await stage.seeder.accountCount()
            return { seconds in
                let count = try await pgbench.run(seconds: seconds, variables: ["application": "\(application.id)"])
                let written = try await stage.seeder.accountCount() - before
                guard written >= count.done else {
                    throw BenchError("pgbench's statements write nothing")
                }
                return Count(perSecond: count.perSecond, isLoadOfOneThread: true)
            }
        }
    }

    private static let person = "'person ' || :person"

    /// SQL for the statement's parameters, by their numbers.
    ///
    /// PostgreSQL generates what is random on the server.
    private static func parameters(_ kind: Kind) -> [Int: String] {
        [
            1: ":application::int4", 2: id(1), 3: id(2), 4: id(3), 5: "ARRAY['oidc']", 6: "'wrk'", 7: "'127.0.0.1'",
            8: "interval '365 days'", 9: "sha256(int8send(:person::int8))", 10: "interval '30 days'",
            11: "'Person'::text", 12: "sha256(int8send(:person::int8))", 13: "'\(kind.rawValue)'::text",
            14: "(\(person))", 15: "\(kind == .guest)", 16: "NULL::text", 17: "false", 18: "NULL::text",
            19: "'{}'::jsonb", 20: "ARRAY[]::text[]", 21: "ARRAY[]::text[]", 22: "false", 23: id(4),
            24: "ARRAY[]::text[]", 25: "ARRAY[]::text[]", 26: "NULL::text",
            27: #"'{"rule":"identity.new","addresses":[]}'::jsonb"#, 28: "'refresh'::text", 29: "NULL::text",
            30: "NULL::bytea", 31: "NULL::interval", 32: "NULL::bytea",
        ]
    }

    /// SQL for a UUID of version 7, as the server uses: rows that are created together are adjacent in every index.
    ///
    /// The UUID is made from the transaction's time, so that it is the same in the whole statement.
    private static func id(_ number: Int) -> String {
        let random = "md5((:person::int8 + \(number))::text)"
        let milliseconds = "lpad(to_hex((extract(epoch FROM statement_timestamp()) * 1000)::int8), 12, '0')"
        return "(\(milliseconds) || '7' || substr(\(random), 14, 3) || '8' || substr(\(random), 18))::uuid"
    }

    private static func lookParameters(_ kind: Kind) -> [Int: String] {
        [
            1: ":application::int4", 2: "'\(kind.rawValue)'", 3: "(\(person))", 4: "ARRAY[]::text[]",
            5: "ARRAY[]::text[]", 6: "interval '365 days'", 7: "50::int8",
        ]
    }
}
