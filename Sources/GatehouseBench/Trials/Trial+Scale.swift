extension Trial {
    private static let rounds = 5

    /// Whether the same calls take longer on a large database than on a small one.
    static func scale(small: SeededStage, large: SeededStage, accounts: Int) -> Trial {
        Trial(name: "\(accounts) accounts against 10,000, p50 by p50") {
            var findings: [Finding] = []
            let scansBefore = try await large.stage.seeder.sequentialScans()
            for call in SeededStage.Call.allCases {
                var (times, ratios): ([Double], [Double]) = ([], [])
                for round in 0..<rounds {
                    // Every other round goes backwards, so that nobody always comes first.
                    let isForward = round.isMultiple(of: 2)
                    let first = try await (isForward ? small : large).median(of: call, inRound: round, of: rounds)
                    let second = try await (isForward ? large : small).median(of: call, inRound: round, of: rounds)
                    let (usual, grown) = isForward ? (first, second) : (second, first)
                    times.append(usual)
                    ratios.append(grown / usual)
                }
                findings.append(try Finding("\(call.rawValue) at 10,000", times, unit: "ms"))
                findings.append(try Finding(call.rawValue, ratios, unit: "×", atMost: 1.2))
            }
            // A backend tells of what it did a second later at the earliest.
            try await Task.sleep(for: .seconds(2))
            let scans = try await large.stage.seeder.sequentialScans() - scansBefore
            findings.append(
                try Finding("scans of a whole large table meanwhile", [Double(scans)], unit: "", atMost: 0))
            return findings
        }
    }
}
