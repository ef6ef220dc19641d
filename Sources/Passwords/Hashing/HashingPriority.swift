#if canImport(Glibc)
    import Glibc
#endif

/// How the threads that hash stand against all others of the server's session.
///
/// What is outside of it is the matter of `SessionPriority`.
enum HashingPriority {
    /// Their share where others want the processor too: a tenth of a thread of ordinary priority.
    ///
    /// Not the least there is: whatever else keeps the machine busy must not keep people from signing in.
    private static let niceness: Int32 = 10

    /// Makes the calling thread give way to those that answer requests, whose work is short.
    ///
    /// In Linux, priority is a thread's own (setpriority(2), "C library/kernel differences"); elsewhere it is the
    /// process's, which is left alone. Asking for less can't be refused, and if it were, nothing but latency would suffer.
    static func lower() {
        #if os(Linux)
            _ = setpriority(__priority_which_t(UInt32(PRIO_PROCESS.rawValue)), 0, niceness)
        #endif
    }
}
