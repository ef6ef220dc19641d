internal import Foundation

/// Lowers the scheduling priority of the server's session, so that hashing passwords does not slow down PostgreSQL on
/// the same machine.
///
/// Linux shares processors among sessions before it shares them among the threads of one (autogroups, sched(7)), and
/// each backend of PostgreSQL has a session of its own. The low priority of the hashing threads has no effect across
/// sessions. With twenty times as many sign-ins as could be hashed, database calls took 0.5 s (p99, Linux 6.18). With
/// a lower priority of the server's session they took as long as without load.
///
/// It has no effect if control groups share the processors, as in most containers.
enum SessionPriority {
    private static let file = "/proc/self/autogroup"
    private static let usual = "0"
    /// Gives the session a third of what another busy session gets.
    private static let low = "5"

    /// Runs the body with a lower priority of the whole session.
    ///
    /// A session with a terminal belongs to a person and keeps its priority, as does one whose priority was changed.
    /// Failures are ignored: they only cost latency.
    static func lowered<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        guard !hasTerminal, current == usual else { return try await body() }
        let lowering = Task {
            // Linux accepts one change in 100 ms from users other than root, for all sessions together.
            while !request(low) { try await Task.sleep(for: .milliseconds(.random(in: 100...200))) }
        }
        defer {
            lowering.cancel()
            if current == low { _ = request(usual) }
        }
        return try await body()
    }

    /// `nil` if sessions have no priority.
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
