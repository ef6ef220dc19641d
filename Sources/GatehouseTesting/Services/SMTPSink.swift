internal import Foundation
internal import Glibc

/// A fake mail relay with blocking sockets on threads, whose faults a script determines.
package final class SMTPSink: Sendable {
    package enum Reaction: Sendable {
        case reply(String)
        /// Sends the usual reply after this number of milliseconds.
        case slow(UInt32)
        /// Sends nothing more, and waits until the client disconnects.
        case hang
        case disconnect
    }

    /// A mail that has arrived whole.
    ///
    /// The relay acknowledges it unless the script prevents that at its `.`.
    package struct Mail: Sendable {
        package let recipient: String
        /// The content after `DATA`, up to and including the CRLF before the final dot.
        ///
        /// Doubled dots stay doubled.
        package let bytes: [UInt8]

        package var content: String { String(decoding: bytes, as: UTF8.self) }

        /// Returns the value of a header field.
        package func field(_ name: String) -> String? {
            content.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    package struct Log: Sendable {
        /// The commands as they were received.
        package fileprivate(set) var commands: [String] = []
        package fileprivate(set) var taken: [Mail] = []
        package fileprivate(set) var connections = 0
        /// The number of connections on which the relay sends nothing any more.
        package fileprivate(set) var hanging = 0
    }

    package var port: UInt16 { listener.port }
    package let log = Observed(Log())
    private let listener: LoopbackListener
    private let script: @Sendable (_ event: String, _ taken: Int) -> Reaction?

    /// Starts a relay that calls the script for `CONNECT`, for each command and for the `.` after the content.
    ///
    /// The script returns the reaction; `nil` sends the usual reply. `taken` is the number of mails that the relay has
    /// accepted so far; for a command, the number of the latest mail that its connection delivered, or 0.
    package init(counting script: @escaping @Sendable (_ event: String, _ taken: Int) -> Reaction?) throws {
        self.script = script
        listener = try LoopbackListener()
        listener.start { [self] in serve($0) }
    }

    /// Starts a relay whose script needs only the event.
    package convenience init(_ script: @escaping @Sendable (_ event: String) -> Reaction? = { _ in nil }) throws {
        try self.init(counting: { event, _ in script(event) })
    }

    package var taken: [Mail] { log.value.taken }
    package var hanging: Int { log.value.hanging }

    /// Closes all connections, including those that hang.
    package func close() {
        listener.close()
    }

    private func serve(_ connection: Int32) {
        var buffer: [UInt8] = []
        var recipient = ""
        let before = log.update { log in
            log.connections += 1
            return log.taken.count
        }
        guard react(to: "CONNECT", before, usually: "220 sink.example ESMTP", on: connection) != nil else { return }
        var number = 0
        while let line = readLine(from: connection, buffer: &buffer) {
            let command = String(decoding: line, as: UTF8.self)
            log.update { $0.commands.append(command) }
            let verb = command.prefix(4).uppercased()
            guard let reply = react(to: command, number, usually: Self.usualReply(to: verb), on: connection) else {
                return
            }
            switch verb {
            case "RCPT":
                recipient = command.split(separator: /[<>]/).dropFirst().first.map(String.init) ?? ""
            case "DATA" where reply.hasPrefix("354"):
                guard let content = readContent(from: connection, buffer: &buffer) else { return }
                let mail = Mail(recipient: recipient, bytes: content)
                number = log.update { log in
                    log.taken.append(mail)
                    return log.taken.count
                }
                guard react(to: ".", number, usually: "250 taken", on: connection) != nil else { return }
            case "QUIT":
                return
            default:
                break
            }
        }
    }

    private static func usualReply(to verb: String) -> String {
        switch verb {
        case "EHLO": "250-sink.example\r\n250-SMTPUTF8\r\n250 8BITMIME"
        case "DATA": "354 go on"
        case "QUIT": "221 bye"
        default: "250 fine"
        }
    }

    /// - Returns: the reply that was sent, or `nil` if the connection ends.
    private func react(to event: String, _ taken: Int, usually reply: String, on connection: Int32) -> String? {
        switch script(event, taken) ?? .reply(reply) {
        case .reply(let text):
            return answer(text, on: connection)
        case .slow(let milliseconds):
            usleep(milliseconds * 1000)
            return answer(reply, on: connection)
        case .hang:
            log.update { $0.hanging += 1 }
            // Reads until the client disconnects or the sink is closed.
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
            log.update { $0.hanging -= 1 }
            return nil
        case .disconnect:
            return nil
        }
    }

    private func answer(_ text: String, on connection: Int32) -> String? {
        let bytes = Array("\(text)\r\n".utf8)
        return send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count ? text : nil
    }

    /// Reads a mail to its final dot.
    ///
    /// - Returns: `nil` if the connection ends before it, since a relay takes only whole mails.
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
