import Accounts
import Postgres

/// One of the server's own statements about codes, run by pgbench against the server's own database.
struct PgbenchOpenID: Sendable {
    private let stage: Stage
    private let pgbench: Pgbench
    /// How many codes exist before a run; 0 if the statement stores new ones.
    private let codes: Int

    /// `parameters` are SQL for the statement's parameters but the application, in terms of the variables `browser` and
    /// `code`, the numbers of a cookie and of a code.
    init(_ statement: Statement, _ parameters: [Int: String], named name: String, codes: Int, stage: Stage) throws {
        self.stage = stage
        self.codes = codes
        let parameters = parameters.merging([1: "\(stage.es256.id)::int4"]) { $1 }
        let script = try stage.write(
            """
            \\set browser random(:firstBrowser, :lastBrowser)
            \\set code :first + :position * \(Pgbench.clients) + :client_id
            \(Pgbench.statement(statement.text.description, with: parameters));
            \\set position :position + 1
            """, to: "openid-\(name).sql")
        pgbench = try Pgbench(script: script, databaseURL: stage.databaseURL)
    }

    func contender(seconds: Double) -> Contender {
        Contender(name: "pgbench, the same statement", seconds: seconds) {
            let browsers = try await stage.seeder.openBrowsers(in: stage.es256)
            let first =
                codes == 0
                ? Owners.newNumbers(1_000_000).lowerBound
                : try await stage.seeder.makeCodes(codes, for: browsers, scopes: ["openid"], in: stage.es256).lowerBound
            return { seconds in
                let before = try await stage.seeder.codeCount(isRedeemed: codes > 0)
                let count = try await pgbench.run(
                    seconds: seconds,
                    variables: [
                        "first": "\(first)", "position": "0", "firstBrowser": "\(browsers.lowerBound)",
                        "lastBrowser": "\(browsers.upperBound)",
                    ])
                let changed = try await stage.seeder.codeCount(isRedeemed: codes > 0) - before
                guard changed >= count.done else { throw BenchError("pgbench's statement changes nothing") }
                return Count(perSecond: count.perSecond, isLoadOfOneThread: true)
            }
        }
    }
}

extension Seeder {
    private static let countCodes = Statement(.read, "SELECT count(*) FROM authorization_codes")
    private static let countRedeemedCodes = Statement(
        .read, "SELECT count(*) FROM authorization_codes WHERE redeemed_at IS NOT NULL")

    func codeCount(isRedeemed: Bool = false) async throws -> Int {
        try await count(isRedeemed ? Self.countRedeemedCodes : Self.countCodes)
    }
}
