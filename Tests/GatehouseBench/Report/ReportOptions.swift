import ArgumentParser

/// Where every command's report goes.
struct ReportOptions: ParsableArguments {
    @Option(help: "The directory that the report is written to.")
    var output = ".build/bench"

    /// Prints it and writes it; what broke off fails the command only then.
    func publish(_ report: Report) throws {
        print(report.text)
        print("Written to \(try report.write(to: output))")
        guard report.isWhole else { throw ExitCode.failure }
    }
}
