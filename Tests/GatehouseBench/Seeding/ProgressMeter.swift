import Foundation

/// Shows the progress of a long task on standard error: a bar on a terminal, otherwise a line for each tenth.
struct ProgressMeter {
    private let total: Int
    private let what: String
    private let isTerminal: Bool
    private let write: (String) -> Void
    private let start = ContinuousClock.now
    private var done = 0
    private var reportedAt: ContinuousClock.Instant?
    private var reportedTenths = 0

    init(
        total: Int, what: String, isTerminal: Bool = isatty(STDERR_FILENO) == 1,
        write: @escaping (String) -> Void = { FileHandle.standardError.write(Data($0.utf8)) }
    ) {
        self.total = max(1, total)
        self.what = what
        self.isTerminal = isTerminal
        self.write = write
    }

    mutating func advance(by count: Int) {
        done = min(total, done + count)
        let state = ProgressState(done: done, total: total, what: what, elapsed: ContinuousClock.now - start)
        if isTerminal {
            let now = ContinuousClock.now
            guard done == total || reportedAt.map({ now - $0 >= .milliseconds(100) }) ?? true else { return }
            reportedAt = now
            // The escape sequence clears the rest of a longer line written before.
            write("\r\(state.bar)\u{1B}[K")
        } else {
            let tenths = done * 10 / total
            guard tenths > reportedTenths else { return }
            reportedTenths = tenths
            write("\(state.line)\n")
        }
    }

    /// Ends the bar's line.
    func end() {
        if isTerminal, reportedAt != nil { write("\n") }
    }
}

/// The progress of a task at one moment, as text.
struct ProgressState {
    let done: Int
    let total: Int
    let what: String
    let elapsed: Duration

    private static let width = 30

    var bar: String {
        let filled = Self.width * done / total
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        return "\(bar) \(line)"
    }

    /// The estimate of the time left assumes a constant pace.
    var line: String {
        let share = "\(100 * done / total) %"
        let seconds = elapsed / .seconds(1)
        guard done < total else { return "\(share) of \(total) \(what) in \(Self.words(seconds))" }
        let left = done > 0 ? Self.words(seconds * Double(total - done) / Double(done)) : "?"
        let pace = seconds > 0 ? Int(Double(done) / seconds) : 0
        return "\(share) of \(total) \(what), \(pace)/s, \(left) left"
    }

    private static func words(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded(.up))
        guard whole >= 60 else { return "\(whole) s" }
        guard whole >= 3600 else { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min"
    }
}
