import Foundation

/// The table of ratios with their absolute values.
struct Table: Sendable {
    let lines: [String]

    private static let header = [
        "", "per second", "ratio", "aim", "CPU µs", "server", "database", "generator", "others", "load", "p50/p99 ms",
    ]

    init(_ results: [RowResult]) {
        let cells = [Self.header] + results.flatMap(Self.cells)
        let widths = Self.header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        lines = cells.map { row in
            let padded = zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + space : space + cell.0
            }
            return padded.joined(separator: "  ")
        }
    }

    private static func cells(of result: RowResult) -> [[String]] {
        let row = result.row
        let ratio = result.ratios.map { ratio in
            let isMissed = row.aim.map { ratio.highest < $0 } ?? false
            let median =
                ratio.isConclusive
                ? String(format: "%.2f", ratio.median) : isMissed ? "missed in all rounds" : "no result"
            return median + String(format: " (%.2f–%.2f)", ratio.lowest, ratio.highest)
        }
        return row.contenders.enumerated().map { index, contender in
            let samples = result.samples(of: index)
            let isGatehouse = index == 0
            let name = isGatehouse ? row.name : "  \(contender.name)"
            return [
                name + failures(samples), perSecond(samples), isGatehouse ? ratio ?? "" : "",
                isGatehouse ? row.aim.map { String(format: "≥ %.2f", $0) } ?? "" : "", processorTime(samples),
            ] + usage(samples) + [latency(samples)]
        }
    }

    private static func failures(_ samples: [Sample]) -> String {
        let count = samples.reduce(0) { $0 + $1.count.failures }
        return count == 0 ? "" : " (\(count) failed!)"
    }

    private static func perSecond(_ samples: [Sample]) -> String {
        guard let spread = Spread(samples.map(\.count.perSecond)) else { return "" }
        return "\(spread.median.formatted3) (\(spread.lowest.formatted3)–\(spread.highest.formatted3))"
    }

    /// Returns the processor time of one call for each participant, without other load.
    private static func processorTime(_ samples: [Sample]) -> String {
        let cores = Double(ProcessInfo.processInfo.activeProcessorCount)
        let times = samples.filter { $0.count.perSecond > 0 }.map { sample in
            let usage = sample.usage
            return (usage.server + usage.database + usage.generator) * cores * 1e6 / sample.count.perSecond
        }
        return Spread(times).map(\.median.formatted3) ?? ""
    }

    private static func usage(_ samples: [Sample]) -> [String] {
        func percent(_ share: (ProcessorMeter.Usage) -> Double) -> String {
            Spread(samples.map { share($0.usage) * 100 }).map { String(format: "%.0f %%", $0.median) } ?? ""
        }
        let others = Spread(samples.map { $0.usage.others * 100 }).map {
            String(format: "%.0f–%.0f %%", $0.lowest, $0.highest)
        }
        let shares = [percent(\.server), percent(\.database), percent(\.generator), others ?? ""]
        return shares + [Spread(samples.map(\.load)).map { String(format: "%.1f", $0.median) } ?? ""]
    }

    private static func latency(_ samples: [Sample]) -> String {
        let latencies = samples.compactMap(\.count.latency)
        guard let median = Spread(latencies.map(\.median)), let p99 = Spread(latencies.map(\.p99)) else { return "" }
        return "\(median.median.formatted3)/\(p99.median.formatted3)"
    }
}

extension Double {
    /// The number as text, with one decimal if it is below 100.
    var formatted3: String {
        String(format: self < 100 ? "%.1f" : "%.0f", self)
    }
}
