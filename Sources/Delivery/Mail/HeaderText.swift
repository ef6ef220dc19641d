internal import Foundation

/// Text in header fields (RFC 5322, RFC 2047), encoded so that no text can add a field.
enum HeaderText {
    /// Text for unstructured fields such as `Subject`, encoded and folded if needed.
    static func unstructured(_ text: String) -> String {
        let line = singleLine(text)
        return isPlain(line) ? line : encodedWords(line)
    }

    /// A display name for `From`: bare, quoted or encoded.
    static func phrase(_ text: String) -> String {
        let line = singleLine(text)
        guard isPlain(line) else { return encodedWords(line) }
        let isAtoms = line.utf8.allSatisfy { $0 == UInt8(ascii: " ") || isAtomText($0) }
        guard !isAtoms else { return line }
        return "\"\(line.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// Whether some parser could take the scalar for a line end: C0 and C1 controls, and Unicode's line separators.
    static func breaksLines(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func singleLine(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text.unicodeScalars.map { breaksLines($0) ? " " : $0 })
        return String(scalars).trimmingCharacters(in: .whitespaces)
    }

    /// Whether the text is printable ASCII that fits on one line and does not look like an encoded word.
    private static func isPlain(_ line: String) -> Bool {
        line.utf8.count <= 66 && line.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !line.contains("=?")
    }

    /// Whether the byte may appear in an atom (RFC 5322, 3.2.3).
    private static func isAtomText(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }
    }

    /// Encodes a line as encoded words of at most 64 characters, which fit into the 76 characters of a line after
    /// `Subject: `.
    ///
    /// No character is split between two words.
    private static func encodedWords(_ line: String) -> String {
        var chunks: [[UInt8]] = [[]]
        for scalar in line.unicodeScalars {
            let bytes = Array(scalar.utf8)
            if let last = chunks.last, last.count + bytes.count > 39 { chunks.append([]) }
            chunks[chunks.count - 1] += bytes
        }
        return chunks.map { "=?UTF-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }
}
