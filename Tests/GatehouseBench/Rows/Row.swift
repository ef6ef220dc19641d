import Foundation

/// One line of the bench: a call and its limits.
struct Row: Sendable {
    let name: String
    /// The share of the lowest limit that the call should reach; `nil` where the figure is only reported.
    let aim: Double?
    let gatehouse: Contender
    /// The lowest of them counts.
    let limits: [Contender]
    /// Measured and shown, but no limit.
    var references: [Contender] = []
    /// Processes whose processor time is measured separately.
    let processes: ProcessorMeter.Processes

    /// Gatehouse first, then the limits, then the references.
    var contenders: [Contender] { [gatehouse] + limits + references }
}

/// A loop that repeats one operation as often as possible.
struct Contender: Sendable {
    typealias Measured = @Sendable (_ seconds: Double) async throws -> Count

    let name: String
    /// How long it takes to tell its speed.
    let seconds: Double
    /// Makes ready what is not to be measured, and gives what is.
    let prepare: @Sendable () async throws -> Measured
}

/// What was done in one measurement.
struct Count: Sendable {
    var perSecond: Double
    /// Calls that were not answered as they should be; not part of `perSecond`.
    var failures = 0
    var latency: Latency?
    /// Made by a load generator that can use no more than one core.
    var isLoadOfOneThread = false

    /// In milliseconds.
    struct Latency: Sendable {
        let median: Double
        let p99: Double
    }
}

/// A count, and what the machine was doing meanwhile.
struct Sample: Sendable {
    let count: Count
    let usage: ProcessorMeter.Usage
    /// The machine's load average over a minute.
    let load: Double
}

/// The samples of a row: for each round, one for each of its contenders.
struct RowResult: Sendable {
    let row: Row
    var rounds: [[Sample]] = []
    /// Why it was measured no further.
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

    /// Gatehouse's share of the lowest limit, round by round.
    var ratios: Spread? {
        Spread(
            rounds.compactMap { samples in
                let limit = samples[1...].prefix(row.limits.count).map(\.count.perSecond).min()
                return limit.flatMap { $0 > 0 ? samples[0].count.perSecond / $0 : nil }
            })
    }
}

extension RowResult {
    private static let busy = 0.9

    /// Where the load generator may have been the limit.
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

/// The median of some figures, with the lowest and the highest.
struct Spread: Sendable {
    let median: Double
    let lowest: Double
    let highest: Double

    /// `nil` without figures.
    init?(_ figures: [Double]) {
        let sorted = figures.sorted()
        guard let lowest = sorted.first, let highest = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        self.lowest = lowest
        self.highest = highest
    }
}
