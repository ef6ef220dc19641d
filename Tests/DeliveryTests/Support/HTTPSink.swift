import Foundation
import GatehouseTesting
import Glibc

/// A fake gateway with blocking sockets on threads, whose answers a script determines.
final class HTTPSink: Sendable {
    enum Reaction: Sendable {
        case status(Int)
        /// Sends these bytes and closes the connection.
        case raw(String)
        case hang
    }

    struct Request: Sendable {
        let line: String
        /// The header fields by their lower-case names.
        let headers: [String: String]
        let body: String
    }

    var port: UInt16 { listener.port }
    let requests = Observed<[Request]>([])
    private let listener: LoopbackListener
    private let script: @Sendable (Request) -> Reaction

    init(_ script: @escaping @Sendable (Request) -> Reaction = { _ in .status(202) }) throws {
        self.script = script
        listener = try LoopbackListener()
        listener.start { [self] in serve($0) }
    }

    /// Closes all connections, including those that hang.
    func close() {
        listener.close()
    }

    private func serve(_ connection: Int32) {
        guard let request = read(from: connection) else { return }
        requests.update { $0.append(request) }
        switch script(request) {
        case .status(let status):
            write("HTTP/1.1 \(status) Whatever\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", to: connection)
        case .raw(let text):
            write(text, to: connection)
        case .hang:
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
        }
    }

    private func write(_ text: String, to connection: Int32) {
        let bytes = Array(text.utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private func read(from connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let border = text.range(of: "\r\n\r\n") {
                let lines = text[..<border.lowerBound].components(separatedBy: "\r\n")
                let headers = Dictionary(
                    lines.dropFirst().compactMap { line -> (String, String)? in
                        guard let colon = line.range(of: ": ") else { return nil }
                        return (line[..<colon.lowerBound].lowercased(), String(line[colon.upperBound...]))
                    }, uniquingKeysWith: { $0 + "," + $1 })
                let body = String(text[border.upperBound...])
                if body.utf8.count >= Int(headers["content-length"] ?? "") ?? 0 {
                    return Request(line: lines[0], headers: headers, body: body)
                }
            }
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
        }
    }
}
