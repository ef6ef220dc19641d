import Foundation
import GatehouseServer

/// An SQL script that pgbench runs on the server's own database, with one transaction per statement.
struct Pgbench: Sendable {
    static let clients = 16

    private let program: String
    private let script: String
    private let databaseURL: String

    /// Prepares a run of the script file at the path `script`.
    /// - Throws: `BenchError` if a parameter of a statement in it has no value.
    init(script: String, databaseURL: String) throws {
        if let left = try String(contentsOfFile: script, encoding: .utf8).firstMatch(of: /\$[0-9]+/) {
            throw BenchError("\(script) has no value for \(left.output)")
        }
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

    /// Replaces the parameters of one of the server's statements by SQL, because pgbench cannot bind binary values.
    static func statement(_ text: String, with parameters: [Int: String]) -> String {
        text.replacing(/\$([0-9]+)/) { match in
            Int(match.output.1).flatMap { parameters[$0] } ?? String(match.output.0)
        }
    }
}

extension String {
    /// Returns the number after the last occurrence of a text in the output.
    func number(after text: String) -> Double? {
        guard let end = range(of: text, options: .backwards)?.upperBound else { return nil }
        return Double(self[end...].prefix { "0123456789.".contains($0) })
    }
}
