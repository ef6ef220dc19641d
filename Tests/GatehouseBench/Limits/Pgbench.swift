import Foundation
import GatehouseServer

/// A script of SQL that pgbench runs against the server's own database, a transaction for each statement.
struct Pgbench: Sendable {
    static let clients = 16

    private let program: String
    private let script: String
    private let databaseURL: String

    /// `script` is its file's path.
    init(script: String, databaseURL: String) throws {
        program = try PrivateCluster.programs(["pgbench"])[0]
        self.script = script
        self.databaseURL = databaseURL
    }

    func run(seconds: Double, variables: [String: String]) async throws -> (perSecond: Double, done: Int) {
        let output = try await Child.output(
            of: [
                program, "--no-vacuum", "--protocol=prepared", "--file=\(script)", "--client=\(Self.clients)",
                "--time=\(max(1, Int(seconds.rounded())))",
            ] + variables.flatMap { ["--define", "\($0)=\($1)"] } + [databaseURL])
        guard let perSecond = output.number(after: "tps = "),
            let done = output.number(after: "number of transactions actually processed: "), done > 0
        else { throw BenchError("pgbench says: \(output)") }
        return (perSecond, Int(done))
    }

    /// The server's own statement with SQL for its parameters, by their numbers: pgbench has no binary values.
    static func statement(_ text: String, with parameters: [Int: String]) -> String {
        // The highest first, or $1 would be found in $12.
        parameters.sorted { $0.key > $1.key }.reduce(text) { sql, parameter in
            sql.replacing("$\(parameter.key)", with: parameter.value)
        }
    }
}

extension String {
    /// The number after the last occurrence of a text.
    func number(after text: String) -> Double? {
        guard let end = range(of: text, options: .backwards)?.upperBound else { return nil }
        return Double(self[end...].prefix { "0123456789.".contains($0) })
    }
}
