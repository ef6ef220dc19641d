internal import Delivery
internal import Foundation
internal import Glibc

/// The limit of file descriptors of this process.
package enum FileDescriptors {
    /// The number of descriptors for files, mails and calls to providers.
    private static let reserve = 64
    /// An event loop, of which each core has one, uses three; a spare one is for what a core accepts at the moment.
    private static let perCore = 4
    /// A server with a very low limit still admits this many clients.
    private static let fewestClients = 16

    /// The process's limit.
    package static var limit: Int { Int(clamping: limits.rlim_cur) }

    private static var limits: rlimit {
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        return limits
    }

    /// Raises the limit as far as the operating system allows; service managers often set a low one.
    package static func raiseLimit() {
        var limits = limits
        limits.rlim_cur = limits.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }

    /// The number of clients that may be connected at the same time.
    ///
    /// Further clients wait until one disconnects. Some descriptors must stay free, because libdispatch ends the
    /// process if it can't open a file. `webhooks` is the number of receivers of events and logout tokens at the start;
    /// those that a reload adds share the reserve.
    static func clients(
        besides databaseConnections: Int, webhooks: Int, cores: Int = ProcessInfo.processInfo.activeProcessorCount,
        limit: Int = limit
    ) -> Int {
        let deliveries = webhooks * EventHandler.settings.concurrency
        return max(fewestClients, limit - reserve - perCore * cores - deliveries - databaseConnections)
    }
}
