import Foundation

/// Durations and repetitions of measurements.
struct Bench: Sendable {
    let rounds: Int
    /// The factor by which the measuring time of each contender is multiplied.
    let timeScale: Double

    static let full = Bench(rounds: 5, timeScale: 1)
    static let quick = Bench(rounds: 2, timeScale: 0.3)

    private static let warmUp = 0.4
    /// The share of the machine that other processes may take without the round being repeated.
    private static let tolerableOthers = 0.1
    private static let maximumRepeats = 2

    /// Measures all rows.
    ///
    /// An error ends only its own row, which keeps the rounds measured so far.
    func measure(_ rows: [Row]) async -> [RowResult] {
        guard !rows.isEmpty else { return [] }
        var results = rows.map(RowResult.init)
        for index in results.indices {
            await results[index].attempt { result in
                for contender in result.row.contenders { _ = try await contender.prepare()(Self.warmUp) }
            }
        }
        for round in 1...rounds {
            progress("round \(round) of \(rounds)")
            for index in results.indices {
                await results[index].attempt { result in
                    try await measure(&result, inRound: round)
                }
            }
        }
        return results
    }

    /// Adds a round to the result, which is repeated if other processes took much of the machine.
    ///
    /// The least disturbed measurement counts.
    private func measure(_ result: inout RowResult, inRound round: Int) async throws {
        var samples = try await measure(result.row, inRound: round)
        var repeats = 0
        while samples.mostOthers > Self.tolerableOthers, repeats < Self.maximumRepeats {
            repeats += 1
            progress("\(result.row.name): others took \((samples.mostOthers * 100).formatted3) %, repeated")
            let repeated = try await measure(result.row, inRound: round)
            if repeated.mostOthers < samples.mostOthers { samples = repeated }
        }
        result.rounds.append(samples)
        result.repeats += repeats
    }

    /// Every other round runs in reverse order, so that no contender is always first.
    private func measure(_ row: Row, inRound round: Int) async throws -> [Sample] {
        let order = Array(row.contenders.indices)
        var samples: [Int: Sample] = [:]
        for index in round.isMultiple(of: 2) ? order.reversed() : order {
            let contender = row.contenders[index]
            let measured = try await contender.prepare()
            try await row.processes.settle()
            let meter = ProcessorMeter(row.processes)
            let count = try await measured(contender.seconds * timeScale)
            samples[index] = Sample(count: count, usage: meter.usage(), load: MachineDescription.load().first ?? 0)
        }
        return order.compactMap { samples[$0] }
    }
}

/// Reports progress on standard error.
func progress(_ text: String) {
    FileHandle.standardError.write(Data("gatehouse-bench: \(text)\n".utf8))
}
