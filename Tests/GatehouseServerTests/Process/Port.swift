import Foundation
import Testing

/// A port of 127.0.0.1 that is reserved during the lifetime of this object.
final class Port {
    let number: Int
    private let socket: Int32

    /// With 0, the system chooses the port.
    init(_ wanted: in_port_t = 0) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) | listen(socket, 1) | getsockname(socket, pointer, &length)
            }
        }
        guard status == 0 else {
            close(socket)
            throw POSIXError(.EADDRINUSE)
        }
        number = Int(in_port_t(bigEndian: address.sin_port))
    }

    deinit { close(socket) }

    /// Returns a port that was free a moment ago.
    ///
    /// It is below those that the system chooses for outgoing connections, so that none takes it meanwhile.
    static func free() throws -> Int {
        for _ in 1...1000 {
            if let port = try? Port(.random(in: 15_000..<32_000)) { return port.number }
        }
        return try Port().number
    }
}
