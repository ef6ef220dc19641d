/// Names and values of a query or of a form (WHATWG URL, 5.1), each name once.
struct FormFields: Sendable {
    let values: [String: String]

    /// - Throws: 400 for a name that stands twice: which one counts must not depend on who reads it (RFC 6749, 3.1).
    init(_ text: some StringProtocol) throws {
        var values: [String: String] = [:]
        for field in text.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap({ Self.decode($0) }), let value = Self.decode(parts.dropFirst().first)
            else {
                throw APIError(.invalidParameter, "The query or form is not well-formed")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw APIError(.invalidParameter, "\(name.prefix(64)) stands there twice")
            }
        }
        // One that is empty counts as absent (RFC 6749, 3.1).
        self.values = values.filter { !$0.value.isEmpty }
    }

    subscript(name: String) -> String? { values[name] }

    private static func decode(_ text: (some StringProtocol)?) -> String? {
        guard let text else { return "" }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                    rest.prefix(2).allSatisfy({ $0 != UInt8(ascii: "+") })
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default:
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
