import Accounts
import Postgres
import Storage

/// Runs the locks and the writes of a change of identities with pgbench on the server's own database.
struct PgbenchLinking: Sendable {
    enum Change {
        case link(accounts: Int, identities: Int)
        case unlink
        case merge
    }

    /// More changes than one client makes in a run.
    private static let changesOfClient = 2000

    private let change: Change
    private let stage: Stage
    private let pgbench: Pgbench

    init(_ change: Change, stage: Stage) throws {
        self.change = change
        self.stage = stage
        let (name, draw, statements): (String, String, [String]) =
            switch change {
            case .link(let accounts, let identities):
                ("link-\(accounts)-\(identities)", #"\set owner random(:first, :last)"#, Self.link)
            case .unlink: ("unlink", #"\set owner :first + :client_id * :each + :position"#, Self.unlink)
            case .merge: ("merge", #"\set owner :first + 2 * (:client_id * :each + :position)"#, Self.merge)
            }
        let script =
            ([#"\set person random(1, 9000000000000000000)"#, draw, #"\set other :owner + 1"#, "BEGIN;"]
            + statements.map { $0 + ";" } + ["COMMIT;", #"\set position :position + 1"#]).joined(separator: "\n")
        pgbench = try Pgbench(
            script: try stage.write(script + "\n", to: "\(name).sql"), databaseURL: stage.databaseURL)
    }

    func contender(seconds: Double) -> Contender {
        Contender(name: "pgbench, the same writes", seconds: seconds) {
            let owners = try await newOwners()
            let before = try await stage.seeder.auditEventCount()
            return { seconds in
                let variables = [
                    "application": "\(stage.es256.id)", "first": "\(owners.numbers.lowerBound)",
                    "last": "\(owners.numbers.upperBound)", "each": "\(Self.changesOfClient)", "position": "0",
                ]
                let count = try await pgbench.run(seconds: seconds, variables: variables)
                let written = try await stage.seeder.auditEventCount() - before
                guard written >= count.done else { throw BenchError("pgbench's statements write nothing") }
                return Count(perSecond: count.perSecond, isLoadOfOneThread: true)
            }
        }
    }

    private func newOwners() async throws -> Owners {
        let all = Pgbench.clients * Self.changesOfClient
        return switch change {
        case .link(let accounts, let identities):
            try await stage.seeder.owners(accounts, identities: identities, in: stage.es256)
        case .unlink: try await stage.seeder.owners(all, identities: 3, in: stage.es256)
        case .merge: try await stage.seeder.owners(2 * all, identities: 2, in: stage.es256)
        }
    }

    // MARK: - Statements

    private static let application = ":application::int4"
    private static let owner = Owners.uid(":owner")
    private static let newIdentity = "md5('identity' || :person)::uuid"

    private static let link = [
        lock([owner], session: Owners.session(of: ":owner")), notice("identityLinked"),
        Pgbench.statement(
            SQLStore.openSessionByNewIdentity.text,
            with: newSession.merging([
                3: newIdentity, 11: "'loopback'::text", 18: "false", 21: "false", 27: "('person ' || :person)",
                28: "NULL::text", 29: "NULL::text", 30: "ARRAY[]::text[]", 31: "ARRAY[]::text[]", 32: "1000::int8",
                33: "true", 34: #"'{"rule":"link.asked","addresses":[]}'::jsonb"#,
                35: Owners.session(of: ":owner"),
            ]) { $1 }),
    ]

    private static let unlink = [
        lock([owner]), notice("identityRemoved"),
        end("identityRemoved", of: owner, openedBy: "ARRAY[\(Owners.identity("1", of: ":owner"))]"),
        Pgbench.statement(
            SQLStore.revokeTokens.text, with: [1: application, 2: Owners.identity("1", of: ":owner")]),
        Pgbench.statement(
            SQLStore.removeIdentity.text,
            with: [1: application, 2: Owners.identity("1", of: ":owner"), 3: owner, 4: "'{}'::jsonb"]),
    ]

    private static let merge: [String] = {
        let other = Owners.uid(":other")
        let moved = [0, 1].map { Owners.identity("\($0)", of: ":other") }
        return [
            lock([owner, other]),
            Pgbench.statement(
                SQLStore.carryOutMerge.text,
                with: [
                    1: application, 2: "md5('merge' || :person)::uuid", 3: owner, 4: other,
                    5: "ARRAY[\(moved.joined(separator: ", "))]", 6: "ARRAY[]::uuid[]", 7: "NULL::text",
                    8: "'{}'::jsonb", 9: "interval '7 days'", 10: "ARRAY[]::uuid[]", 11: moved[0], 12: "1000::int8",
                ]),
            end("merged", of: other, openedBy: "NULL::uuid[]"), notice("accountsMerged"),
            session(by: Owners.identity("0", of: ":owner")),
        ]
    }()

    private static func lock(_ accounts: [String], session: String = "NULL::uuid") -> String {
        Pgbench.statement(
            SQLStore.lockAccountsAndSession.text,
            with: [1: application, 2: "ARRAY[\(accounts.joined(separator: ", "))]", 3: session])
    }

    private static func notice(_ topic: String) -> String {
        Pgbench.statement(
            SQLStore.enqueue.text,
            with: [
                1: application, 2: "md5('notice' || :person)::uuid", 3: "'\(topic)'::text", 4: "'email'::text",
                5: "decode(repeat('ab', 300), 'hex')", 6: "sha256(int8send(:person::int8))", 7: owner,
                8: "'email'::text", 9: "('owner' || :owner || '@bench.example')",
            ])
    }

    private static func end(_ reason: String, of uid: String, openedBy identities: String) -> String {
        Pgbench.statement(
            SQLStore.endSessions.text,
            with: [
                1: application, 2: uid, 3: "'\(reason)'::text", 4: "NULL::uuid", 5: "NULL::uuid", 6: identities,
                7: "'{}'::text[]", 8: "'{}'::text[]", 9: "false", 10: "NULL::text",
                11: "NULL::timestamptz",
            ])
    }

    private static func session(by identity: String) -> String {
        Pgbench.statement(SQLStore.openSession.text, with: newSession.merging([3: identity]) { $1 })
    }

    /// The binds of `openSession` except the identity's id.
    private static let newSession = [
        1: application, 2: owner, 4: "md5('session' || :person)::uuid", 5: "ARRAY['oidc']", 6: "'wrk'::text",
        7: "'127.0.0.1'::text", 8: "interval '365 days'", 9: "sha256(int8send(:person::int8))",
        10: "interval '30 days'", 11: "NULL::text", 12: "NULL::bytea", 13: "NULL::text", 14: "'{}'::jsonb",
        15: "NULL::text", 16: "NULL::uuid", 17: "NULL::timestamptz", 18: "true", 19: "ARRAY[]::text[]",
        20: "NULL::uuid", 21: "false", 22: "'refresh'::text", 23: "NULL::text", 24: "NULL::bytea",
        25: "NULL::interval", 26: "NULL::bytea",
    ]
}
