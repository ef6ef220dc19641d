import ArgumentParser

/// `gatehouse-bench scale`, a separate command because a run takes minutes and gigabytes.
struct ScaleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale", abstract: "Measures whether calls take longer as the database grows.",
        discussion: "Ten million accounts take some 20 GB below /var/tmp.")

    @Option(help: "How many accounts the large database has, with two identities and a session each.")
    var accounts = 10_000_000

    @OptionGroup var options: ReportOptions

    func run() async throws {
        let machine = MachineDescription.current()
        let report = try await Stage.with(databases: ["small", "large"]) { stages in
            let small = try await SeededStage(stages[0], accounts: 10_000)
            let large = try await SeededStage(stages[1], accounts: accounts)
            let processes = ProcessorMeter.Processes(
                servers: stages.flatMap(\.processes.servers), database: stages[0].processes.database)
            return Report(
                machine: machine, databaseVersion: try await small.stage.seeder.databaseVersion(),
                trials: [
                    await Trial.scale(small: small, large: large, accounts: accounts).run(beside: processes)
                ])
        }
        try options.publish(report)
    }
}
