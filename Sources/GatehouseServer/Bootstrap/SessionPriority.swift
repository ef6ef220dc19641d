internal import Foundation

/// Lowers the scheduling priority of the server's session, so that hashing passwords does not slow down PostgreSQL on
/// the same machine.
///
/// Linux first shares processors among sessions and then among the threads of each session (autogroups, sched(7)). Each
/// backend of PostgreSQL has its own session, so the low priority of the hashing threads does not favour PostgreSQL.
/// When sign-ins arrived twenty times as fast as they could be hashed, database calls took 0.5 s (p99, Linux 6.18).
/// With a lower priority of the server's session they took as long as without load.
///
/// It has no effect if control groups share the processors, as in most containers.
enum SessionPriority {
    private static let file = "/proc/self/autogroup"
    private static let usual = "0"
    /// The niceness that gives the session a third of the processor time of another busy session.
    private static let low = "5"

    /// Runs the body with a lower priority of the whole session.
    ///
    /// The priority stays unchanged if the session has a terminal, because it then belongs to a user, or if the
    /// priority was changed before. Failures are ignored, because they only increase latency.
    static func lowered<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        guard !hasTerminal, current == usual else { return try await body() }
        // A separate task, because the body must not wait for it; `defer` cancels it.
        let lowering = Task {
            // Users other than root may change a priority once in 100 ms, counted over all sessions.
            while !request(low) { try await Task.sleep(for: .milliseconds(.random(in: 100...200))) }
        }
        defer {
            lowering.cancel()
            if current == low { _ = request(usual) }
        }
        return try await body()
    }

    /// The session's niceness; `nil` if the kernel has no autogroups.
    private static var current: String? {
        let line = try? String(contentsOfFile: file, encoding: .utf8)
        return line?.split(whereSeparator: \.isWhitespace).last.map(String.init)
    }

    /// - Returns: false if the kernel asks to try again.
    private static func request(_ niceness: String) -> Bool {
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
