import Foundation
import Glibc
import Synchronization

/// A mail relay with blocking sockets on threads, and a script for faults.
final class MailSink: Sendable {
    enum Reaction: Sendable {
        case reply(String)
        /// Sends nothing more until the client disconnects.
        case hang
    }

    /// A mail that was taken: the relay has said so.
    struct Taken: Sendable {
        let recipient: String
        let content: String

        /// Of a header field.
        func field(_ name: String) -> String? {
            content.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    private struct State {
        var taken: [Taken] = []
        var hanging = 0
        var open: Set<Int32> = []
    }

    struct Unavailable: Error {}

    let port: UInt16
    private let listener: Int32
    private let script: @Sendable (_ event: String, _ taken: Int) -> Reaction?
    private let state = Mutex(State())

    /// The script is asked for the reaction to `CONNECT`, to each command and to `.` after the content; `nil` is the
    /// usual one.
    ///
    /// `taken` is the number of accepted mails so far; for a command, of its own connection.
    init(_ script: @escaping @Sendable (_ event: String, _ taken: Int) -> Reaction? = { _, _ in nil }) throws {
        self.script = script
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
        Thread.detachNewThread { [self] in accept() }
    }

    var taken: [Taken] { state.withLock { $0.taken } }
    /// Connections on which nothing is said any more.
    var hanging: Int { state.withLock { $0.hanging } }

    /// Ends all connections, the hanging ones too.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in state.withLock({ $0.open }) { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    private func accept() {
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            guard connection >= 0 else { break }
            // No program that a test starts may keep it open.
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            _ = state.withLock { $0.open.insert(connection) }
            Thread.detachNewThread { [self] in
                serve(connection)
                _ = state.withLock { $0.open.remove(connection) }
                Glibc.close(connection)
            }
        }
        Glibc.close(listener)
    }

    private func serve(_ connection: Int32) {
        var buffer: [UInt8] = []
        var recipient = ""
        var number = 0
        guard react(to: "CONNECT", taken.count, usually: "220 sink.example ESMTP", on: connection) else { return }
        while let line = readLine(from: connection, buffer: &buffer) {
            switch line.prefix(4).uppercased() {
            case "EHLO":
                guard react(to: line, number, usually: "250-sink.example\r\n250 8BITMIME", on: connection) else {
                    return
                }
            case "RCPT":
                recipient = line.split(separator: /[<>]/).dropFirst().first.map(String.init) ?? ""
                guard react(to: line, number, usually: "250 fine", on: connection) else { return }
            case "DATA":
                guard react(to: line, number, usually: "354 go on", on: connection) else { return }
                var content = ""
                while let line = readLine(from: connection, buffer: &buffer), line != "." { content += line + "\r\n" }
                let mail = Taken(recipient: recipient, content: content)
                number = state.withLock { state in
                    state.taken.append(mail)
                    return state.taken.count
                }
                guard react(to: ".", number, usually: "250 taken", on: connection) else { return }
            case "QUIT":
                _ = react(to: line, number, usually: "221 bye", on: connection)
                return
            default:
                guard react(to: line, number, usually: "250 fine", on: connection) else { return }
            }
        }
    }

    /// - Returns: whether the connection goes on.
    private func react(to event: String, _ taken: Int, usually reply: String, on connection: Int32) -> Bool {
        switch script(event, taken) ?? .reply(reply) {
        case .reply(let text):
            let bytes = Array("\(text)\r\n".utf8)
            return send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        case .hang:
            state.withLock { $0.hanging += 1 }
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
            state.withLock { $0.hanging -= 1 }
            return false
        }
    }

    private func readLine(from connection: Int32, buffer: inout [UInt8]) -> String? {
        while true {
            if let end = buffer.indices.first(where: { buffer[$0] == 0x0A && $0 > 0 && buffer[$0 - 1] == 0x0D }) {
                let line = String(decoding: buffer[..<(end - 1)], as: UTF8.self)
                buffer.removeFirst(end + 1)
                return line
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            buffer += chunk[..<count]
        }
    }
}
