/// A measurement of promises that are not rates, each with its bound.
struct Trial: Sendable {
    let name: String
    /// Notes for the reader, one a line.
    var explanation: [String] = []
    /// Adds each finding as soon as it has it.
    let measure: @Sendable (inout [Finding]) async throws -> Void

    /// An error ends only the trial; findings so far are reported with it.
    func run() async -> TrialResult {
        progress(name)
        var findings: [Finding] = []
        do {
            try await measure(&findings)
            return TrialResult(trial: self, findings: findings, failure: nil)
        } catch {
            progress("\(name): \(error)")
            return TrialResult(trial: self, findings: findings, failure: "\(error)")
        }
    }
}

/// The findings of a trial, and the error that ended it.
struct TrialResult: Sendable {
    let trial: Trial
    let findings: [Finding]
    let failure: String?
}

/// One figure of a trial.
struct Finding: Sendable {
    /// Which of the figures is judged.
    enum Bound {
        /// The median, for ratios, because other load disturbs each value.
        case median(atMost: Double)
        /// The highest, for promises that hold always.
        case all(atMost: Double)
    }

    let name: String
    let unit: String
    let figures: Spread
    /// `nil` where the figure is only reported.
    let bound: Bound?

    init(_ name: String, _ figures: [Double], unit: String, _ bound: Bound? = nil) throws {
        guard let figures = Spread(figures) else { throw BenchError("\(name): nothing was measured") }
        (self.name, self.figures, self.unit, self.bound) = (name, figures, unit, bound)
    }

    var isWithin: Bool {
        switch bound {
        case .median(let most): figures.median <= most
        case .all(let most): figures.highest <= most
        case nil: true
        }
    }
}
