import Foundation

/// The report of results.
struct Report: Sendable {
    let machine: MachineDescription
    let databaseVersion: String
    var results: [RowResult] = []
    let trials: [TrialResult]
    /// Further figures, one line each.
    var notes: [String] = []
    let date = Date()

    var text: String {
        let load = machine.load.map { String(format: "%.2f", $0) }.joined(separator: " ")
        let rounds = results.map(\.rounds.count).max().map { ", \($0) rounds" } ?? ""
        let head = [
            "Gatehouse bench, \(date.formatted(.iso8601))\(rounds)",
            "\(machine.cores) cores of \(machine.processor), \(String(format: "%.1f", machine.gibibytes)) GiB, "
                + "\(machine.system)",
            "PostgreSQL \(databaseVersion), commits synced; load average before: \(load)",
        ]
        let failures = results.compactMap { result in result.failure.map { "\(result.row.name) BROKE OFF: \($0)" } }
        let table = results.isEmpty ? [] : [""] + Table(results).lines + failures + [""] + Self.explanation
        return (head + table + trials.flatMap(Self.lines) + [""] + notes).joined(separator: "\n")
    }

    private static func lines(of result: TrialResult) -> [String] {
        let failure = result.failure.map { ["  BROKE OFF: \($0)"] } ?? []
        let explanation = result.trial.explanation.map { "  \($0)" }
        let others = String(format: " (others took %.0f %% of the machine)", result.others * 100)
        return ["", result.trial.name + others] + result.findings.map(line) + failure + explanation
    }

    private static func line(of finding: Finding) -> String {
        let (figures, unit) = (finding.figures, finding.unit)
        let isOne = figures.lowest == figures.highest
        let spread = isOne ? "" : " (\(figures.lowest.formatted3)–\(figures.highest.formatted3))"
        let aim =
            switch finding.bound {
            case .median(let most): "  aim \(isOne ? "" : "for the median ")≤ \(most.formatted3)"
            case .all(let most): "  aim \(isOne ? "" : "for all ")≤ \(most.formatted3)"
            case nil: ""
            }
        return "  \(finding.name): \(figures.median.formatted3)\(spread) \(unit)\(aim)\(finding.verdict)"
    }

    private static let explanation = [
        "Medians with lowest and highest. A ratio is Gatehouse's share of its lowest limit in the same round. CPU µs:",
        "processor time of one call, by server, PostgreSQL and generator (or the raw loop), which share the machine; then",
        "each one's part of all cores, and the least and most that other processes took in a round. A round in which they",
        "took more than 10 % is repeated, at most twice. A ratio whose rounds differ by a factor of two is no result,",
        "except that all rounds may miss the aim.",
    ]

    var isWhole: Bool { results.allSatisfy { $0.failure == nil } && trials.allSatisfy { $0.failure == nil } }

    /// - Returns: the path of the file.
    func write(to directory: String) throws -> String {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let name = date.formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
        let path = "\(directory)/\(name).txt"
        try Data("\(text)\n".utf8).write(to: URL(filePath: path))
        return path
    }
}
