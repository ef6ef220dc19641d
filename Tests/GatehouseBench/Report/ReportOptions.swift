import ArgumentParser

/// The options of every command for its report.
struct ReportOptions: ParsableArguments {
    @Option(help: "The directory that the report is written to.")
    var output = ".build/bench"

    /// Prints the report and writes it to a file.
    ///
    /// Then throws if a measurement failed.
    func publish(_ report: Report) throws {
        print(report.text)
        print("Written to \(try report.write(to: output))")
        guard report.isWhole else { throw ExitCode.failure }
    }
}
