internal import Glibc

/// The limit of file descriptors of this process.
package enum FileDescriptors {
    /// The number of descriptors for everything but clients and the database: files, deliveries, calls to providers.
    private static let reserve = 64
    /// A server with a very low limit still admits this many clients.
    private static let fewestClients = 16

    private static var limit: rlimit {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit
    }

    /// Raises the limit as far as the operating system allows; service managers often set a low one.
    package static func raiseLimit() {
        var limit = limit
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The number of clients that may be connected at the same time.
    ///
    /// Further clients wait until one disconnects. Some descriptors must stay free, because libdispatch ends the
    /// process if it can't open a file.
    static func clients(besides databaseConnections: Int) -> Int {
        let available = Int(clamping: limit.rlim_cur) - reserve - databaseConnections
        return max(fewestClients, available)
    }
}
