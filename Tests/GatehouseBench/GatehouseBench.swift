import ArgumentParser
import GatehouseServer

/// Measures Gatehouse against the limits of the machine.
///
/// `Stage` sets up a private PostgreSQL, seeds it and starts `gatehouse serve` on it, with default settings, beside an
/// empty Hummingbird server. Each `Row` names a call, the limits that it can't beat, and an aim for their ratio. A
/// `Bench` goes through the rows several times, each time the call and its limits one right after the other, so that a
/// noisy machine disturbs both sides alike; ratios are formed inside a round and their median is what counts. HTTP load
/// comes from wrk; the processor shares of all participants are beside each figure.
@main
struct GatehouseBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse-bench", abstract: "Measures Gatehouse against the limits of this machine.",
        subcommands: [RunCommand.self, ScaleCommand.self, SeedCommand.self, EmptyRouteCommand.self],
        defaultSubcommand: RunCommand.self)
}

/// `gatehouse-bench`: measures, prints a table and writes it to a file.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Measures; the default.")

    @Argument(help: "Which rows to measure; all of them unless named.")
    var rows: [RowName] = []

    @Flag(help: "Two short rounds, for a first impression.")
    var quick = false

    @Option(help: "For how many seconds people sign in while memory is watched; 600 show whether it grows.")
    var soak = 20

    @Option(help: "How many pages wait for a phone; the row fails if file descriptors do not suffice.")
    var pages = 10_000

    @OptionGroup var options: ReportOptions

    func validate() throws {
        guard soak >= 8 else { throw ValidationError("--soak needs 8 seconds: a quarter of it has to show something") }
        guard pages > 0 else { throw ValidationError("--pages needs at least one page") }
    }

    func run() async throws {
        // The programs that this one starts inherit the limit. wrk needs a descriptor for each connection.
        FileDescriptors.raiseLimit()
        let machine = MachineDescription.current()
        let chosen = rows.isEmpty ? RowName.allCases : rows
        let bench = quick ? Bench.quick : Bench.full
        let report = try await Stage.with { stage in
            let results = await bench.measure(try chosen.flatMap { try $0.rows(on: stage) })
            var trials: [TrialResult] = []
            for trial in chosen.flatMap({ $0.trials(on: stage, quick: quick, soak: .seconds(soak), pages: pages) }) {
                trials.append(await trial.run(beside: stage.processes))
            }
            return Report(
                machine: machine, databaseVersion: try await stage.seeder.databaseVersion(),
                results: results, trials: trials,
                notes: results.flatMap { $0.comparedTails + $0.busyGenerators + $0.repeatedRounds }
                    + (try await notes()))
        }
        try options.publish(report)
    }

    private func notes() async throws -> [String] {
        guard !quick, rows.isEmpty || rows.contains(.refresh) else { return [] }
        return try await OpenSSLSpeed.rsa3072().map { [$0] } ?? []
    }
}

/// An error that prevents a measurement.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
