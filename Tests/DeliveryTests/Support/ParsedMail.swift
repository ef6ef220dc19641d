import Foundation

/// A mail, parsed strictly by RFC 5322, 2045 and 2047 without any code of the composer.
struct ParsedMail {
    struct Part: Equatable {
        let type: String
        let encoding: String
        let text: String
    }

    struct Malformed: Error {
        let reason: String
    }

    let fields: [(name: String, value: String)]
    let parts: [Part]

    init(_ bytes: [UInt8]) throws {
        try Self.checkLines(bytes)
        let (fields, body) = try Self.split(String(decoding: bytes, as: UTF8.self))
        self.fields = fields
        let type = fields.first { $0.name == "content-type" }?.value ?? ""
        guard let match = type.firstMatch(of: /^multipart\/alternative;\s+boundary="([^"]+)"$/) else {
            throw Malformed(reason: "type \(type)")
        }
        let sections = "\r\n\(body)".components(separatedBy: "\r\n--\(match.1)")
        guard sections.last == "--\r\n", sections.first == "" else { throw Malformed(reason: "boundaries") }
        parts = try sections.dropFirst().dropLast().map { try Self.part(String($0.dropFirst())) }
    }

    subscript(name: String) -> String? {
        let values = fields.filter { $0.name == name.lowercased() }
        return values.count == 1 ? values[0].value : nil
    }

    /// Returns a header field with its encoded words decoded and the blanks between them removed (RFC 2047, 6.2).
    func decoded(_ name: String) -> String? {
        self[name]?.replacing(/\?=\s+=\?/, with: "?==?").replacing(/=\?UTF-8\?B\?([A-Za-z0-9+\/=]*)\?=/) { match in
            Data(base64Encoded: String(match.1)).map { String(decoding: $0, as: UTF8.self) } ?? "undecodable"
        }
    }

    private static func checkLines(_ bytes: [UInt8]) throws {
        for (index, byte) in bytes.enumerated() {
            if byte == 0x0D, bytes[safe: index + 1] != 0x0A { throw Malformed(reason: "bare CR at \(index)") }
            if byte == 0x0A, bytes[safe: index - 1] != 0x0D { throw Malformed(reason: "bare LF at \(index)") }
        }
        let longest = bytes.split(separator: 0x0A).map(\.count).max() ?? 0
        guard longest <= 999 else { throw Malformed(reason: "line of \(longest)") }
    }

    private static func split(_ text: String) throws -> (fields: [(name: String, value: String)], body: String) {
        guard let border = text.range(of: "\r\n\r\n") else { throw Malformed(reason: "no body") }
        var fields: [(name: String, value: String)] = []
        for line in text[..<border.lowerBound].components(separatedBy: "\r\n") {
            if line.hasPrefix(" "), !fields.isEmpty {
                fields[fields.count - 1].value += line
            } else if let match = line.wholeMatch(of: /([!-9;-~]+): (.*)/) {
                fields.append((match.1.lowercased(), String(match.2)))
            } else {
                throw Malformed(reason: "field \(line)")
            }
        }
        return (fields, String(text[border.upperBound...]))
    }

    private static func part(_ text: String) throws -> Part {
        let (fields, body) = try split(text)
        let type = fields.first { $0.name == "content-type" }?.value ?? ""
        let encoding = fields.first { $0.name == "content-transfer-encoding" }?.value ?? ""
        let lines = body.components(separatedBy: "\r\n")
        switch encoding {
        case "7bit":
            guard body.utf8.allSatisfy({ $0 < 128 }) else { throw Malformed(reason: "8 bit in 7bit") }
            return Part(type: type, encoding: encoding, text: lines.joined(separator: "\n"))
        case "quoted-printable":
            guard lines.allSatisfy({ $0.utf8.count <= 76 && $0.last != " " }) else {
                throw Malformed(reason: "quoted-printable line")
            }
            return Part(type: type, encoding: encoding, text: try decodeQuotedPrintable(lines.joined(separator: "\n")))
        default:
            throw Malformed(reason: "encoding \(encoding)")
        }
    }

    private static func decodeQuotedPrintable(_ text: String) throws -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.replacing("=\n", with: "").utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                throw Malformed(reason: "quoted-printable escape")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    fileprivate subscript(safe index: Int) -> UInt8? {
        indices.contains(index) ? self[index] : nil
    }
}
