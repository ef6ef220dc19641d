import Glibc

/// The priority of hashing threads within the server; `SessionPriority` sets that of the server itself.
enum HashingPriority {
    /// Gives the threads a tenth of the processor time of an ordinary thread that competes with them.
    ///
    /// A higher value would let other busy processes keep people from signing in.
    private static let niceness: Int32 = 10

    /// Lowers the priority of the calling thread, which in Linux has one of its own (setpriority(2)).
    static func lower() {
        _ = setpriority(__priority_which_t(UInt32(PRIO_PROCESS.rawValue)), 0, niceness)
    }
}
