import Foundation

/// HTTP load from wrk, which uses one thread for many connections.
struct Wrk: Sendable {
    let script: String
    /// The input of the script, one line for each request.
    let lines: String
    let connections: Int

    private static let program = "/usr/bin/wrk"

    func run(_ url: String, seconds: Double) async throws -> Count {
        guard FileManager.default.isExecutableFile(atPath: Self.program) else {
            throw BenchError("wrk is not installed; on Debian: apt-get install wrk")
        }
        let whole = max(1, Int(seconds.rounded()))
        let output = try await Child.output(
            of: [
                Self.program, "--threads", "1", "--connections", "\(connections)", "--duration", "\(whole)s",
                "--timeout", "10s", "--script", script, url, "--", lines,
            ])
        return try Self.count(in: output)
    }

    private static func count(in output: String) throws -> Count {
        let line = output.split(separator: "\n").last { $0.hasPrefix(WrkScript.resultMark) }
        let figures = line.map { $0.split(separator: " ").compactMap { Double($0) } } ?? []
        guard figures.count == 6, figures[1] > 0 else { throw BenchError("wrk says: \(output)") }
        let seconds = figures[1] / 1e6
        return Count(
            perSecond: max(0, figures[0] - figures[2]) / seconds, failures: Int(figures[2] + figures[3]),
            latency: .init(median: figures[4] / 1000, p99: figures[5] / 1000), isLoadOfOneThread: true)
    }
}

extension Contender {
    static func wrk(_ load: Wrk, at url: String, name: String, seconds: Double) -> Contender {
        Contender(name: name, seconds: seconds) {
            { seconds in try await load.run(url, seconds: seconds) }
        }
    }
}
