import Glibc

/// The priority of hashing threads, the lowest one, so that other requests do not wait for passwords.
///
/// Linux compares it only with threads of the same control group or session, so it does not favour PostgreSQL. The
/// policy `SCHED_IDLE` made refusals during a flood no faster (p99, Linux 6.18, with and without a busy process beside
/// the server). Where nothing is grouped, it would leave hashing 0.3 % of a busy core; nice 19 leaves 1.5 %.
enum HashingPriority {
    private static let niceness: Int32 = 19

    /// Lowers the priority of the calling thread only, because Linux has a priority for each thread (setpriority(2)).
    static func lower() { _ = setpriority(__priority_which_t(UInt32(PRIO_PROCESS.rawValue)), 0, niceness) }
}
