extension Trial {
    private static let rounds = 5

    /// Whether the same calls take longer on a large database than on a small one.
    static func scale(small: SeededStage, large: SeededStage, accounts: Int) -> Trial {
        Trial(
            name: "\(accounts) accounts against 10,000, p50 by p50",
            explanation: [
                "me, refresh and password sign-in: people of each round's own, evenly spread. Calls up to one for",
                "each hit rows that nobody has just read. What memory holds is warm nevertheless: all of the",
                "small database, of the large one what seeding and VACUUM left there. Those who were just there are",
                "a hundred who call over and over. Calls that add people come last.",
            ]
        ) { findings in
            let scansBefore = try await large.stage.sequentialScans()
            for call in SeededStage.Call.allCases {
                var (times, ratios, repeats): ([Double], [Double], [Double]) = ([], [], [])
                for round in 0..<rounds {
                    // Every other round runs in reverse order, so that no contender is always first.
                    let isForward = round.isMultiple(of: 2)
                    let first = try await (isForward ? small : large).timing(of: call, inRound: round, of: rounds)
                    let second = try await (isForward ? large : small).timing(of: call, inRound: round, of: rounds)
                    let (usual, grown) = isForward ? (first, second) : (second, first)
                    times.append(usual.median)
                    ratios.append(grown.median / usual.median)
                    if let calls = grown.callsPerPerson { repeats.append(calls) }
                }
                findings.append(try Finding("\(call.rawValue) at 10,000", times, unit: "ms"))
                findings.append(try Finding(call.rawValue, ratios, unit: "×", .median(atMost: 1.2)))
                guard !repeats.isEmpty else { continue }
                findings.append(
                    try Finding("\(call.rawValue), calls for each person at \(accounts)", repeats, unit: ""))
            }
            let scans = try await large.stage.sequentialScans() - scansBefore
            findings.append(
                try Finding("scans of a whole large table meanwhile", [Double(scans)], unit: "", .all(atMost: 0)))
        }
    }
}

extension Stage {
    /// All there were so far: an idle backend of PostgreSQL 15 tells of what it did within ten seconds.
    fileprivate func sequentialScans() async throws -> Int {
        progress("waiting for PostgreSQL's statistics")
        try await Task.sleep(for: .seconds(11))
        return try await seeder.sequentialScans()
    }
}
