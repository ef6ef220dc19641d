import Foundation
import ProviderKit

/// Writes one flat JSON object (RFC 8259), member by member, in a fraction of the time of `JSONEncoder`, which would
/// add half as much again to an ES256 signature.
struct JSONObjectWriter {
    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(512)
    }

    /// The object; nothing can be added to it.
    var object: [UInt8] {
        bytes + (bytes.isEmpty ? "{}" : "}").utf8
    }

    mutating func add(_ name: some CodingKey, _ value: String) {
        begin(name)
        append(value)
    }

    mutating func add(_ name: some CodingKey, _ value: Int) {
        begin(name)
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func add(_ name: some CodingKey, _ value: Bool) {
        begin(name)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func add(_ name: some CodingKey, _ values: [String]) {
        begin(name)
        for (index, value) in values.enumerated() {
            bytes.append(UInt8(ascii: index == 0 ? "[" : ","))
            append(value)
        }
        bytes.append(contentsOf: (values.isEmpty ? "[]" : "]").utf8)
    }

    /// A value that JSON can't hold is left out.
    mutating func add(_ name: String, _ value: JSONValue) {
        guard let json = try? JSONEncoder().encode(value) else { return }
        begin(name)
        bytes.append(contentsOf: json)
    }

    private mutating func begin(_ name: some CodingKey) {
        begin(name.stringValue)
    }

    private mutating func begin(_ name: String) {
        bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ","))
        append(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Escapes what must be, and nothing else (RFC 8259 section 7).
    private mutating func append(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case ..<0x20:
                let digits = String(byte, radix: 16)
                bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8)
                bytes.append(contentsOf: digits.utf8)
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
