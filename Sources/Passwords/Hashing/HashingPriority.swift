import Glibc

/// The priority of hashing threads within the server; `SessionPriority` sets that of the server itself.
enum HashingPriority {
    /// The niceness, for a tenth of an ordinary thread's time; a higher one lets busy processes block sign-ins.
    private static let niceness: Int32 = 10

    /// Lowers the priority of the calling thread only, because Linux has a priority for each thread (setpriority(2)).
    static func lower() { _ = setpriority(__priority_which_t(UInt32(PRIO_PROCESS.rawValue)), 0, niceness) }
}
