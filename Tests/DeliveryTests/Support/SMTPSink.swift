import Foundation
import GatehouseTesting
import Glibc

/// A fake mail relay with blocking sockets on threads, whose faults a script determines.
final class SMTPSink: Sendable {
    enum Reaction: Sendable {
        case reply(String)
        /// Sends the usual reply after this number of milliseconds.
        case slow(UInt32)
        case hang
        case disconnect
    }

    struct Log: Sendable {
        /// The commands as they were received.
        var commands: [String] = []
        /// The content after each `DATA`, up to and including the CRLF before the final dot.
        ///
        /// Doubled dots stay doubled.
        var contents: [[UInt8]] = []
        var connections = 0
    }

    var port: UInt16 { listener.port }
    let log = Observed(Log())
    private let listener: LoopbackListener
    private let script: @Sendable (String) -> Reaction?

    /// Starts a relay.
    ///
    /// The script gets each command, `CONNECT` for a new connection and `.` for the end of the content, and returns the
    /// reaction; `nil` sends the usual reply.
    init(_ script: @escaping @Sendable (String) -> Reaction? = { _ in nil }) throws {
        self.script = script
        listener = try LoopbackListener()
        listener.start { [self] in serve($0) }
    }

    /// Closes all connections, including those that hang.
    func close() {
        listener.close()
    }

    private func serve(_ connection: Int32) {
        log.update { $0.connections += 1 }
        var buffer: [UInt8] = []
        guard react(to: "CONNECT", usually: "220 sink.example ESMTP", on: connection) else { return }
        while let line = readLine(from: connection, buffer: &buffer) {
            let command = String(decoding: line, as: UTF8.self)
            log.update { $0.commands.append(command) }
            switch command.prefix(4).uppercased() {
            case "EHLO":
                let capabilities = "250-sink.example\r\n250-SMTPUTF8\r\n250 8BITMIME"
                guard react(to: command, usually: capabilities, on: connection) else { return }
            case "DATA":
                guard react(to: command, usually: "354 go on", on: connection) else { return }
                if case .reply = script(command) { continue }
                guard let content = readContent(from: connection, buffer: &buffer) else { return }
                log.update { $0.contents.append(content) }
                guard react(to: ".", usually: "250 taken", on: connection) else { return }
            case "QUIT":
                _ = react(to: command, usually: "221 bye", on: connection)
                return
            default:
                guard react(to: command, usually: "250 fine", on: connection) else { return }
            }
        }
    }

    /// - Returns: whether the connection stays open.
    private func react(to event: String, usually reply: String, on connection: Int32) -> Bool {
        switch script(event) ?? .reply(reply) {
        case .reply(let text):
            return answer(text, on: connection)
        case .slow(let milliseconds):
            usleep(milliseconds * 1000)
            return answer(reply, on: connection)
        case .hang:
            // Reads until the client disconnects or the sink is closed.
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
            return false
        case .disconnect:
            return false
        }
    }

    private func answer(_ text: String, on connection: Int32) -> Bool {
        let bytes = Array("\(text)\r\n".utf8)
        return send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    private func readContent(from connection: Int32, buffer: inout [UInt8]) -> [UInt8]? {
        var content: [UInt8] = []
        while let line = readLine(from: connection, buffer: &buffer) {
            guard line != [UInt8(ascii: ".")] else { return content }
            content += line + [0x0D, 0x0A]
        }
        return nil
    }

    private func readLine(from connection: Int32, buffer: inout [UInt8]) -> [UInt8]? {
        while true {
            if let end = buffer.indices.first(where: { buffer[$0] == 0x0A && $0 > 0 && buffer[$0 - 1] == 0x0D }) {
                let line = Array(buffer[..<(end - 1)])
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
