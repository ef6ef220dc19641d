import Foundation
import GatehouseTesting
import Glibc
import Synchronization

/// A mail relay with blocking sockets on threads, which a script can make fail.
final class MailSink: Sendable {
    enum Reaction: Sendable {
        case reply(String)
        /// Sends nothing more, and waits until the client disconnects.
        case hang
    }

    /// A mail that has arrived whole.
    ///
    /// The relay acknowledges it unless the script hangs at its `.`.
    struct Taken: Sendable {
        let recipient: String
        let content: String

        /// Returns the value of a header field.
        func field(_ name: String) -> String? {
            content.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    private struct State {
        var taken: [Taken] = []
        var hanging = 0
    }

    var port: UInt16 { listener.port }
    private let listener: LoopbackListener
    private let script: @Sendable (_ event: String, _ taken: Int) -> Reaction?
    private let state = Mutex(State())

    /// Creates a relay that calls the script for `CONNECT`, for each command and for the `.` after the content; if the
    /// script returns `nil`, the relay replies as usual.
    ///
    /// `taken` is the number of mails that the relay has accepted so far; for a command, the number of the latest mail
    /// that its connection delivered, or 0.
    init(_ script: @escaping @Sendable (_ event: String, _ taken: Int) -> Reaction? = { _, _ in nil }) throws {
        self.script = script
        listener = try LoopbackListener()
        listener.start { [self] in serve($0) }
    }

    var taken: [Taken] { state.withLock { $0.taken } }
    /// The number of connections on which the relay sends nothing any more.
    var hanging: Int { state.withLock { $0.hanging } }

    /// Closes all connections, including the hanging ones.
    func close() {
        listener.close()
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
                guard let content = readContent(from: connection, buffer: &buffer) else { return }
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

    /// - Returns: whether the connection stays open.
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

    /// Reads a mail to its final dot.
    ///
    /// - Returns: `nil` if the connection ends before it, since a relay takes only whole mails.
    private func readContent(from connection: Int32, buffer: inout [UInt8]) -> String? {
        var content = ""
        while let line = readLine(from: connection, buffer: &buffer) {
            if line == "." { return content }
            content += line + "\r\n"
        }
        return nil
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
