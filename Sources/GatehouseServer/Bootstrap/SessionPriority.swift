internal import Foundation

/// How the process stands against those of other sessions, such as PostgreSQL's on the same machine.
///
/// Linux shares processors among sessions before it does among the threads of one (autogroups, sched(7)), so outside its
/// session the low priority of a thread that hashes counts for nothing. Worse: where threads of unlike priority come and
/// go in one session, those of another of the same rank were seen to wait for up to seconds (Linux 6.18), and with them
/// each call that asks the database. A session that is owed less than theirs does them no harm.
enum SessionPriority {
    /// A third of an ordinary session's share, where all want the processor.
    private static let niceness = 5
    private static let file = "/proc/self/autogroup"

    /// Has the whole session give way, as systemd does for a unit's `Nice=`.
    ///
    /// Not from a terminal: its shell is of the same session and would stay that way. Where it can't be done nothing but
    /// latency suffers.
    static func lower() {
        #if os(Linux)
            guard !hasTerminal, let file = fopen(file, "w") else { return }
            fputs("\(niceness)", file)
            fclose(file)
        #endif
    }

    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }
}
