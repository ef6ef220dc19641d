import Foundation
import Testing

/// A port of 127.0.0.1 that is reserved during the lifetime of this object.
final class Port {
    let number: Int
    private let socket: Int32

    init() throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) | listen(socket, 1) | getsockname(socket, pointer, &length)
            }
        }
        try #require(status == 0)
        number = Int(in_port_t(bigEndian: address.sin_port))
    }

    deinit { close(socket) }

    /// Returns a port that was free a moment ago.
    static func free() throws -> Int { try Port().number }
}
