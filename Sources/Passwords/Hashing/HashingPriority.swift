import Glibc

/// The priority of hashing threads: ten below that of the process, so that other requests do not wait for passwords.
///
/// Linux compares it only with threads of the same control group or session, so it does not favour PostgreSQL. On one
/// or two cores, where no core is free of hashing, it also decides how much cheap requests can slow down sign-ins. Beside
/// a thread that never sleeps, hashing gets 1.5 % of a core at nice 19, 10 % at nice 10 and 25 % at nice 5.
///
/// Measured on two busy cores (Linux 6.18): during a flood of passwords, nice 10 completed twice as many hashes as
/// nice 19, and refusals took equally long (p99 120 to 161 ms, against 125 to 130). Nice 5 completed three times as many,
/// and refusals took up to 40 % longer. The policy `SCHED_IDLE` made refusals no faster than nice 19.
enum HashingPriority {
    private static let difference: Int32 = 10

    /// Lowers the priority of the calling thread only, because Linux has a priority for each thread (setpriority(2)).
    ///
    /// Linux limits the result to 19, the lowest priority.
    static func lower() {
        let thread = __priority_which_t(UInt32(PRIO_PROCESS.rawValue))
        _ = setpriority(thread, 0, getpriority(thread, 0) + difference)
    }
}
