import ArgumentParser

/// Where every command's report goes.
struct ReportOptions: ParsableArguments {
    @Option(help: "The directory that the report is written to.")
    var output = ".build/bench"

    /// Prints it and writes it; a trial that broke off fails the command only then.
    func publish(_ report: Report) throws {
        print(report.text)
        print("Written to \(try report.write(to: output))")
        if report.trials.contains(where: { $0.failure != nil }) { throw ExitCode.failure }
    }
}
