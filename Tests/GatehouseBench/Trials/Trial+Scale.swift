extension Trial {
    private static let rounds = 5

    /// Measures whether the same calls take longer on a large database than on a small one.
    static func scale(small: SeededStage, large: SeededStage, accounts: Int) -> Trial {
        Trial(
            name: "\(accounts) accounts against 10,000, p50 by p50",
            explanation: [
                "me, refresh and password sign-in use other people in each round, spread evenly over the database. Up",
                "to one call per person, the rows have not just been read. Memory nevertheless holds the whole small",
                "database, and the part of the large one that seeding and VACUUM left there. \"Just there\" means a",
                "hundred people who call repeatedly. Calls that add people come last.",
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
    /// Returns the number of sequential scans so far.
    ///
    /// The function waits first, because an idle backend of PostgreSQL 15 reports its statistics within ten seconds.
    fileprivate func sequentialScans() async throws -> Int {
        progress("waiting for PostgreSQL's statistics")
        try await Task.sleep(for: .seconds(11))
        return try await seeder.sequentialScans()
    }
}
