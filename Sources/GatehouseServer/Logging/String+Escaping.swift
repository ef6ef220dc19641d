extension StringProtocol {
    /// The text on one line, with control characters escaped as in `\n` and `\u001B`.
    package var escapingControlCharacters: String { escaping { _ in false } }

    /// The text escaped for use between the quotes of a JSON string (RFC 8259, 7).
    package var escapedForJSON: String { escaping { $0 == "\"" || $0 == "\\" } }

    private func escaping(_ needsBackslash: (Unicode.Scalar) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if needsBackslash(scalar) {
                result.append(contentsOf: ["\\", scalar])
            } else if scalar.isControl {
                result.append(contentsOf: scalar.controlEscape.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

extension Unicode.Scalar {
    /// Whether the character is in C0, DEL or C1, or a separator that some programs treat as the end of a line.
    fileprivate var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        default: false
        }
    }

    /// The escape sequence; four digits suffice, because all control characters are in the Basic Multilingual Plane.
    fileprivate var controlEscape: String {
        switch self {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let digits = String(value, radix: 16, uppercase: true)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}
