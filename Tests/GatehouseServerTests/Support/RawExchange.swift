import Foundation

/// Sends raw bytes over a TCP connection, for requests that no HTTP client would send.
struct RawExchange: Sendable {
    let port: UInt16

    init(_ server: TestServer) {
        port = server.url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
    }

    /// Sends the bytes and reads until the server closes the connection.
    ///
    /// By default the client then closes its sending side. The server treats such a client as disconnected and hashes
    /// no password for it; a request with `Connection: close` may set `staying` to keep that side open.
    func send(_ bytes: [UInt8], staying: Bool = false) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: exchange(bytes, staying: staying)) }
        }
    }

    func send(_ text: String) async -> String {
        await send(Array(text.utf8))
    }

    /// Sends the text and returns whether the server closes the connection within ten seconds.
    func isHungUp(after text: String) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let connection = connected(sending: Array(text.utf8))
                defer { close(connection) }
                var byte: UInt8 = 0
                continuation.resume(returning: recv(connection, &byte, 1, 0) == 0)
            }
        }
    }

    /// Sends the text again and again and reads nothing.
    ///
    /// Returns whether the server closes the connection, at the latest ten seconds after it has stopped reading.
    func isHungUp(repeating text: String) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let connection = connected(sending: [])
                defer { close(connection) }
                let bytes = Array(text.utf8)
                while Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) > 0 {}
                continuation.resume(returning: errno == ECONNRESET || errno == EPIPE)
            }
        }
    }

    private func exchange(_ bytes: [UInt8], staying: Bool) -> String {
        let connection = connected(sending: bytes)
        defer { close(connection) }
        if !staying { shutdown(connection, Int32(SHUT_WR)) }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            answer += buffer.prefix(count)
        }
        return String(decoding: answer, as: UTF8.self)
    }

    /// Returns a connection on which the bytes have been sent, with timeouts of ten seconds.
    private func connected(sending bytes: [UInt8]) -> Int32 {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(connection, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return connection }
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { break }
            rest = rest.dropFirst(sent)
        }
        return connection
    }
}
