import GatehouseTesting
import Glibc
import Synchronization

/// The network between servers and the mail relay, which a test can break.
final class RelayNetwork: Sendable {
    enum Fault: Sendable {
        /// Holds all data back until the fault ends, like a network that loses packets.
        case stalling
        /// Delivers data 300 ms late.
        case delaying
        /// Ends new connections at once, and open ones when they send.
        case refusing
    }

    private let listener: LoopbackListener
    private let fault = Mutex<Fault?>(nil)

    var port: UInt16 { listener.port }

    init(before relay: UInt16) throws {
        listener = try LoopbackListener()
        listener.start { [self] client in
            let server = Self.connection(to: relay)
            forward(between: client, and: server)
            Glibc.close(server)
        }
    }

    /// Breaks the network, or repairs it with `nil`.
    func turn(_ fault: Fault?) { self.fault.withLock { $0 = fault } }

    func close() {
        turn(nil)
        listener.close()
    }

    private var current: Fault? { fault.withLock { $0 } }

    /// Copies data in both directions until either side closes.
    private func forward(between client: Int32, and server: Int32) {
        var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while current != .refusing, poll(&ends, 2, -1) > 0 {
            for (end, other) in [(ends[0], server), (ends[1], client)] where end.revents != 0 {
                let count = recv(end.fd, &buffer, buffer.count, 0)
                if current == .delaying { usleep(300_000) }
                while current == .stalling { usleep(5_000) }
                guard count > 0, current != .refusing, send(other, buffer, count, Int32(MSG_NOSIGNAL)) == count else {
                    return
                }
            }
        }
    }

    private static func connection(to port: UInt16) -> Int32 {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return connection
    }
}
