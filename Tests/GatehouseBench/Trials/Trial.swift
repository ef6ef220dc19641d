/// A measurement of several figures other than rates, each with its bound.
struct Trial: Sendable {
    let name: String
    /// Notes for the reader, one per line.
    var explanation: [String] = []
    /// Measures the figures and appends each finding at once, so that an error keeps the earlier ones.
    let measure: @Sendable (inout [Finding]) async throws -> Void

    /// Runs the trial.
    ///
    /// An error ends only this trial and is reported with the findings so far. The processes are those that run before
    /// and after the trial; what it starts itself counts as this process's children.
    func run(beside processes: ProcessorMeter.Processes) async -> TrialResult {
        progress(name)
        let meter = ProcessorMeter(processes)
        var findings: [Finding] = []
        var failure: String?
        do {
            try await measure(&findings)
        } catch {
            progress("\(name): \(error)")
            failure = "\(error)"
        }
        return TrialResult(trial: self, findings: findings, failure: failure, others: meter.usage().others)
    }
}

/// The findings of a trial, and the error that ended it.
struct TrialResult: Sendable {
    let trial: Trial
    let findings: [Finding]
    let failure: String?
    /// The share of the machine that other processes took.
    let others: Double
}

/// One figure of a trial.
struct Finding: Sendable {
    /// The upper bound of a finding, and the value that is compared with it.
    enum Bound {
        /// The median must not exceed the bound. Ratios use this, because other load disturbs single values.
        case median(atMost: Double)
        /// No value may exceed the bound.
        case all(atMost: Double)
    }

    let name: String
    let unit: String
    let figures: Spread
    /// The bound; `nil` if the figure is only reported.
    let bound: Bound?

    init(_ name: String, _ figures: [Double], unit: String, _ bound: Bound? = nil) throws {
        guard let figures = Spread(figures) else { throw BenchError("\(name): nothing was measured") }
        (self.name, self.figures, self.unit, self.bound) = (name, figures, unit, bound)
    }

    /// Says whether the bound is kept; empty if it is.
    ///
    /// A ratio whose rounds differ by a factor of two is no result, unless all rounds are above the bound.
    var verdict: String {
        let most: Double
        let isWithin: Bool
        switch bound {
        case .median(let bound): (most, isWithin) = (bound, figures.median <= bound)
        case .all(let bound): (most, isWithin) = (bound, figures.highest <= bound)
        case nil: (most, isWithin) = (.infinity, true)
        }
        if figures.lowest > most { return figures.lowest < figures.highest ? ", missed in all rounds" : ", missed" }
        if unit == "×", !figures.isConclusive { return ", no result" }
        return isWithin ? "" : ", missed"
    }
}
