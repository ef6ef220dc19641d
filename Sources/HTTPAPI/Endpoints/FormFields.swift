internal import ProviderKit

/// The names and values of a query or of a form (WHATWG URL, 5.1).
struct FormFields: Sendable {
    let values: [String: String]
    /// The values of the names that may occur more than once.
    private var lists: [String: [String]] = [:]
    /// The names that have an empty value.
    let emptied: Set<String>

    static let malformed = APIError(.invalidParameter, "The query or form is not well-formed")

    /// - Throws: 400 for a name that occurs twice, because readers would disagree on which one counts (RFC 6749, 3.1).
    init(_ text: some StringProtocol, repeating repeated: Set<String> = []) throws {
        var values: [String: String] = [:]
        for (name, value) in try Self.pairs(of: text) {
            if repeated.contains(name) {
                lists[name, default: []].append(value)
                continue
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw APIError(.invalidParameter, "\(name.prefix(64)) stands there twice")
            }
        }
        // An empty value counts as absent (RFC 6749, 3.1).
        self.values = values.filter { !$0.value.isEmpty }
        emptied = Set(values.lazy.filter(\.value.isEmpty).map(\.key))
    }

    /// All names with their values, in the order of the text.
    static func pairs(of text: some StringProtocol) throws -> [(name: String, value: String)] {
        let bytes = Array(text.utf8)
        guard bytes.count <= RequestBody.largest else {
            throw APIError(.invalidParameter, "The query is larger than \(RequestBody.largest) bytes")
        }
        var pairs: [(String, String)] = []
        var position = 0
        while position < bytes.count {
            guard bytes[position] != UInt8(ascii: "&") else {
                position += 1
                continue
            }
            let name = try decode(bytes, from: &position, isName: true)
            guard name.isFitName else {
                throw APIError(.invalidParameter, "The query or form has a \(APIError.unfitName)")
            }
            if position < bytes.count, bytes[position] == UInt8(ascii: "=") { position += 1 }
            let value = try decode(bytes, from: &position, isName: false)
            // PostgreSQL stores no U+0000.
            guard !name.utf8.contains(0), !value.utf8.contains(0) else { throw malformed }
            pairs.append((name, value))
        }
        return pairs
    }

    subscript(name: String) -> String? { values[name] }

    /// The value of the button that was pressed; `nil` for a text longer than all of them, which is slow to compare.
    var action: String? { self["action"].flatMap { $0.utf8.count <= 32 ? $0 : nil } }

    /// All values of a name that may occur more than once.
    func all(_ name: String) -> [String] { lists[name] ?? [] }

    /// Reads up to the `&`, or to the `=` after a name.
    private static func decode(_ bytes: [UInt8], from position: inout Int, isName: Bool) throws -> String {
        let end = bytes[position...].firstIndex { byte in
            byte == UInt8(ascii: "&") || isName && byte == UInt8(ascii: "=")
        }
        let field = bytes[position..<(end ?? bytes.endIndex)]
        position = field.endIndex
        let isEncoded = field.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        guard let text = String(validating: isEncoded ? try decode(field) : field, as: UTF8.self) else {
            throw malformed
        }
        return text
    }

    private static func decode(_ field: ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        var decoded: ArraySlice<UInt8> = []
        var rest = field
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                    throw malformed
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return decoded
    }
}
