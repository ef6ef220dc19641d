import Foundation

/// One line of the bench: a call and its limits.
struct Row: Sendable {
    let name: String
    /// The share of the lowest limit that the call should reach; `nil` if the share is only reported.
    let aim: Double?
    let gatehouse: Contender
    /// The upper bounds of the call's rate.
    ///
    /// The lowest one counts.
    let limits: [Contender]
    /// Contenders that are measured and shown for comparison, but are no limits.
    var references: [Contender] = []
    /// The most that the call's 99th percentile may be of that of the first limit, if both have latencies to compare.
    var tailAim: Double?
    /// Processes whose processor time is measured separately.
    let processes: ProcessorMeter.Processes

    /// Gatehouse first, then the limits, then the references.
    var contenders: [Contender] { [gatehouse] + limits + references }
}

/// A loop that repeats one operation as often as possible.
struct Contender: Sendable {
    typealias Measured = @Sendable (_ seconds: Double) async throws -> Count

    let name: String
    /// How long the measurement must take for a stable result.
    let seconds: Double
    /// Does the preparations, which are not measured, and returns the function to measure.
    let prepare: @Sendable () async throws -> Measured
}

/// The result of one measurement.
struct Count: Sendable {
    var perSecond: Double
    /// The number of calls with an unexpected response, which are not part of `perSecond`.
    var failures = 0
    var latency: Latency?
    /// Whether the load generator can use only one core.
    var isLoadOfOneThread = false

    /// Latencies in milliseconds.
    struct Latency: Sendable {
        let median: Double
        let p99: Double
    }
}

/// A count, and the load of the machine during its measurement.
struct Sample: Sendable {
    let count: Count
    let usage: ProcessorMeter.Usage
    /// The machine's load average over a minute.
    let load: Double
}

/// The samples of a row: one per contender in each round.
struct RowResult: Sendable {
    let row: Row
    var rounds: [[Sample]] = []
    /// How many rounds were measured again because other processes took much of the machine.
    var repeats = 0
    /// The error that ended the measurement of this row.
    private(set) var failure: String?

    init(_ row: Row) {
        self.row = row
    }

    mutating func attempt(_ step: (inout RowResult) async throws -> Void) async {
        guard failure == nil else { return }
        do {
            try await step(&self)
        } catch {
            progress("\(row.name): \(error)")
            failure = "\(error)"
        }
    }

    func samples(of contender: Int) -> [Sample] {
        rounds.map { $0[contender] }
    }

    /// The spread of Gatehouse's share of the lowest limit over all rounds.
    var ratios: Spread? {
        Spread(
            rounds.compactMap { samples in
                let limit = samples[1...].prefix(row.limits.count).map(\.count.perSecond).min()
                return limit.flatMap { $0 > 0 ? samples[0].count.perSecond / $0 : nil }
            })
    }
}

extension [Sample] {
    /// The largest share of the machine that other processes took during one of the samples.
    var mostOthers: Double { map(\.usage.others).max() ?? 0 }
}

extension RowResult {
    private static let busy = 0.9

    /// A sentence if rounds were repeated.
    var repeatedRounds: [String] {
        guard repeats > 0 else { return [] }
        let most = (rounds.map(\.mostOthers).max() ?? 0) * 100
        return [
            "\(row.name): measured \(repeats) more times because of other load, which took up to "
                + "\(most.formatted3) % in what is shown"
        ]
    }

    /// The spread of the ratio of Gatehouse's 99th percentile to that of the first limit over all rounds.
    var tailRatios: Spread? {
        Spread(
            rounds.compactMap { samples in
                guard samples.count > 1, let own = samples[0].count.latency, let limit = samples[1].count.latency,
                    limit.p99 > 0
                else { return nil }
                return own.p99 / limit.p99
            })
    }

    /// A sentence if the row has an aim for its 99th percentile.
    var comparedTails: [String] {
        guard let aim = row.tailAim, let ratios = tailRatios else { return [] }
        let figures = [ratios.median, ratios.lowest, ratios.highest].map { String(format: "%.2f", $0) }
        let verdict = ratios.lowest > aim ? ": missed in all rounds" : ratios.median > aim ? ": missed" : ""
        return [
            "\(row.name): its p99 is \(figures[0]) (\(figures[1])–\(figures[2])) of that of \(row.limits[0].name), "
                + "aim ≤ \(String(format: "%.2f", aim))\(verdict)"
        ]
    }

    /// A sentence for each contender whose load generator may have been the limit.
    var busyGenerators: [String] {
        row.contenders.indices.compactMap { index in
            let loads = samples(of: index).filter(\.count.isLoadOfOneThread)
            guard let share = Spread(loads.map(\.generatorCores))?.median, share > Self.busy else { return nil }
            return "\(row.name), \(row.contenders[index].name): the load generator used "
                + "\((share * 100).formatted3) % of its one core, and may be what was measured"
        }
    }
}

extension Sample {
    /// How many cores the load generator kept busy.
    fileprivate var generatorCores: Double {
        usage.generator * Double(ProcessInfo.processInfo.activeProcessorCount)
    }
}

/// The median of several figures, with the lowest and the highest.
struct Spread: Sendable {
    let median: Double
    let lowest: Double
    let highest: Double

    /// Whether a ratio says something: its highest value is less than twice the lowest.
    var isConclusive: Bool { highest < 2 * lowest || highest == lowest }

    /// Returns `nil` if there are no figures.
    init?(_ figures: [Double]) {
        let sorted = figures.sorted()
        guard let lowest = sorted.first, let highest = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        self.lowest = lowest
        self.highest = highest
    }
}
