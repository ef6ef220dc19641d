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
    /// A third of what each other busy session gets.
    private static let niceness = "5"
    private static let file = "/proc/self/autogroup"

    /// Has the session give way, which is the server's alone.
    ///
    /// Without a terminal it takes one of its own; under a terminal the session is the shell's, and left alone. So is a
    /// priority that somebody else has chosen. Where it can't be done nothing but latency suffers.
    static func lower() {
        #if os(Linux)
            if !hasTerminal { setsid() }
            guard getsid(0) == getpid(), current?.hasSuffix(" nice 0\n") == true else { return }
            Task {
                // Linux takes one such wish in 100 ms from those who aren't root, whichever session it is about.
                for _ in 1...20 where !wish() { try? await Task.sleep(for: .milliseconds(.random(in: 100...200))) }
            }
        #endif
    }

    private static var current: String? { try? String(contentsOfFile: file, encoding: .utf8) }

    private static func wish() -> Bool {
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
