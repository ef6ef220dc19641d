import Accounts
import Foundation
import Postgres
import Storage
import Synchronization

/// The server's own statement that rotates a refresh token, run by pgbench against the server's own database.
///
/// pgbench has no binary values, so the statement's hashes are computed in SQL from numbers: each client walks along a
/// chain of tokens of its own, as clients of the server do.
struct PgbenchRotation: Sendable {
    private static let clients = 16
    /// More than a client rotates in one run.
    private static let chainLength: Int64 = 1_000_000

    /// By the numbers of the statement's parameters.
    private static let parameters = [
        1: ":application::int4", 2: "sha256(int8send(:token::int8))", 3: "sha256(int8send(:successor::int8))",
        4: "sha256(int8send(:after::int8))", 5: ":reuse::interval", 6: ":lifetime::interval",
    ]

    private let stage: Stage
    private let application: Application
    private let program: String
    private let script: String

    init(stage: Stage, application: Application) throws {
        self.stage = stage
        self.application = application
        program = try Self.find()
        let statement = Self.parameters.reduce(SQLStore.rotate.text.description) { sql, parameter in
            sql.replacing("$\(parameter.key)", with: parameter.value)
        }
        script = try stage.write(
            """
            \\set token :first + :client_id * \(Self.chainLength) + :position
            \\set successor :token + 1
            \\set after :token + 2
            \(statement);
            \\set position :position + 1
            """, to: "rotation-\(application.name).sql")
    }

    func contender(seconds: Double) -> Contender {
        Contender(name: "pgbench, the same statement", seconds: seconds) {
            let first = Self.chains.withLock { next in
                defer { next += Int64(Self.clients) * Self.chainLength }
                return next
            }
            try await stage.seeder.openSessions(
                withTokensOf: (0..<Self.clients).map { first + Int64($0) * Self.chainLength },
                for: stage.people(of: application), in: application)
            let before = try await stage.seeder.refreshTokenCount()
            return { seconds in
                let count = try await run(from: first, seconds: seconds)
                let rotated = try await stage.seeder.refreshTokenCount() - before
                guard rotated >= count.done else { throw BenchError("pgbench's statement rotates nothing") }
                return Count(perSecond: count.perSecond)
            }
        }
    }

    /// Where the next run's chains begin.
    private static let chains = Mutex<Int64>(0)

    private func run(from first: Int64, seconds: Double) async throws -> (perSecond: Double, done: Int) {
        let policy = application.policy.tokens
        let variables = [
            "application": "\(application.id)", "first": "\(first)", "position": "0",
            "reuse": "\(policy.refreshReuseInterval.components.seconds) seconds",
            "lifetime": "\(policy.refreshLifetime.components.seconds) seconds",
        ]
        let output = try await Child.output(
            of: [
                program, "--no-vacuum", "--protocol=prepared", "--file=\(script)", "--client=\(Self.clients)",
                "--time=\(max(1, Int(seconds.rounded())))",
            ] + variables.flatMap { ["--define", "\($0)=\($1)"] } + [stage.databaseURL])
        guard let perSecond = output.number(after: "tps = "),
            let done = output.number(after: "number of transactions actually processed: "), done > 0
        else { throw BenchError("pgbench says: \(output)") }
        return (perSecond, Int(done))
    }

    /// Beside the server first: Debian's command in the path is a script around it.
    private static func find() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let installed = versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
        let search = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = (installed + search).map { "\($0)/pgbench" }
        guard let program = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw BenchError("pgbench is not installed")
        }
        return program
    }
}

extension String {
    /// The number that stands behind the last occurrence of a text.
    func number(after text: String) -> Double? {
        guard let end = range(of: text, options: .backwards)?.upperBound else { return nil }
        return Double(self[end...].prefix { "0123456789.".contains($0) })
    }
}
