internal import Foundation

/// How the server stands against what runs in other sessions of its machine, such as PostgreSQL.
///
/// Linux shares processors among sessions before it does among the threads of one (autogroups, sched(7)), and each
/// backend of PostgreSQL has a session of its own. The low priority of the threads that hash counts for nothing there.
/// Worse, where threads of unlike priority come and go in one session, those of others were seen to wait for up to
/// seconds (Linux 6.18): with twenty times as many sign-ins as could be hashed, whatever asked the database took 0.5 s
/// (p99). Once the server's session was worth less than theirs, it took as long as usual.
///
/// It has no effect where a control group has a share of the processors, as in most containers.
enum SessionPriority {
    private static let file = "/proc/self/autogroup"
    private static let usual = "0"
    /// A third of what each other busy session gets.
    private static let low = "5"

    /// Has the session give way for as long as the body runs, and whatever else is in it.
    ///
    /// Under a terminal the session is a person's, and left alone; so is a priority that somebody has chosen. Where it
    /// can't be done nothing but latency suffers.
    static func lowered<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        guard !hasTerminal, current == usual else { return try await body() }
        let lowering = Task {
            // Linux takes one such wish in 100 ms from those who aren't root, whichever session it is about.
            while !wish(for: low) { try await Task.sleep(for: .milliseconds(.random(in: 100...200))) }
        }
        defer {
            lowering.cancel()
            if current == low { _ = wish(for: usual) }
        }
        return try await body()
    }

    /// `nil` where sessions have no priority.
    private static var current: String? {
        let line = try? String(contentsOfFile: file, encoding: .utf8)
        return line?.split(whereSeparator: \.isWhitespace).last.map(String.init)
    }

    /// - Returns: false where it is worth another try.
    private static func wish(for niceness: String) -> Bool {
        let descriptor = open(file, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return write(descriptor, niceness, niceness.utf8.count) > 0 || errno != EAGAIN
    }

    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }
}
