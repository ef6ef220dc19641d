/// A promise that is no rate: things that are measured, and what each must stay within.
struct Trial: Sendable {
    let name: String
    let findings: @Sendable () async throws -> [Finding]
}

/// One figure of a trial.
struct Finding: Sendable {
    let name: String
    let unit: String
    let figures: Spread
    /// `nil` where the figure is only reported.
    let atMost: Double?

    init(_ name: String, _ figures: [Double], unit: String, atMost: Double? = nil) throws {
        guard let figures = Spread(figures) else { throw BenchError("\(name): nothing was measured") }
        (self.name, self.figures, self.unit, self.atMost) = (name, figures, unit, atMost)
    }

    var isWithin: Bool { atMost.map { figures.median <= $0 } ?? true }
}
