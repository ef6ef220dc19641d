internal import Foundation
internal import Glibc
internal import Synchronization

/// A TCP listener on 127.0.0.1 with blocking sockets, for fake servers that control every byte that they send.
///
/// Each connection is served on its own thread.
package final class LoopbackListener: Sendable {
    /// The error if no socket could be opened.
    package struct Unavailable: Error {}

    package let port: UInt16
    private let listener: Int32
    private let open = Mutex<Set<Int32>>([])

    package init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard bind(descriptor, pointer, length) == 0, listen(descriptor, 64) == 0 else { return Int32(-1) }
                return getsockname(descriptor, pointer, &length)
            }
        }
        guard status == 0 else { throw Unavailable() }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Accepts connections until `close` is called.
    ///
    /// Each connection is closed when `serve` returns for it.
    package func start(_ serve: @escaping @Sendable (_ connection: Int32) -> Void) {
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                // Programs that a test starts must not inherit the connection and keep it open.
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                _ = open.withLock { $0.insert(connection) }
                Thread.detachNewThread { [self] in
                    serve(connection)
                    _ = open.withLock { $0.remove(connection) }
                    Glibc.close(connection)
                }
            }
            Glibc.close(listener)
        }
    }

    /// Stops accepting connections, and closes the open ones.
    package func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in open.withLock({ $0 }) { shutdown(connection, Int32(SHUT_RDWR)) }
    }
}
