import Foundation

/// Durations and repetitions of measurements.
struct Bench: Sendable {
    let rounds: Int
    /// The factor by which the measuring time of each contender is multiplied.
    let timeScale: Double

    static let full = Bench(rounds: 5, timeScale: 1)
    static let quick = Bench(rounds: 2, timeScale: 0.3)

    private static let warmUp = 0.4

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
                    result.rounds.append(try await measure(result.row, inRound: round))
                }
            }
        }
        return results
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
