/// One body of a mail with the transfer encoding it needs (RFC 2045, 6).
struct BodyPart {
    /// The value of `Content-Transfer-Encoding`: `7bit` if no encoding is needed, which keeps links readable in the raw
    /// mail.
    let encoding: String
    /// The encoded body; each line ends in CRLF, including the last.
    let content: String

    init(_ text: String) {
        let lines = Self.lines(of: text)
        let isPlain = lines.allSatisfy { $0.count <= 998 && $0.allSatisfy(Self.isPlain) }
        encoding = isPlain ? "7bit" : "quoted-printable"
        let encoded = lines.map { isPlain ? String(decoding: $0, as: UTF8.self) : Self.quotedPrintable($0) }
        content = encoded.map { $0 + "\r\n" }.joined()
    }

    /// Splits a text into lines at LF, CRLF and CR.
    private static func lines(of text: String) -> [ArraySlice<UInt8>] {
        var normalised: [UInt8] = []
        var previous: UInt8 = 0
        for byte in text.utf8 {
            if byte == 0x0D || (byte == 0x0A && previous != 0x0D) {
                normalised.append(0x0A)
            } else if byte != 0x0A {
                normalised.append(byte)
            }
            previous = byte
        }
        if normalised.last == 0x0A { normalised.removeLast() }
        return normalised.split(separator: 0x0A, omittingEmptySubsequences: false)
    }

    private static func isPlain(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) || byte == 0x09 }

    /// Encodes a line as quoted-printable (RFC 2045, 6.7): at most 76 characters, and no blank at the end.
    private static func quotedPrintable(_ line: ArraySlice<UInt8>) -> String {
        var output = ""
        var column = 0
        for (index, byte) in zip(line.indices, line) {
            let isLast = index == line.index(before: line.endIndex)
            let isBlank = byte == 0x20 || byte == 0x09
            let isLiteral = isPlain(byte) && byte != UInt8(ascii: "=") && !(isBlank && isLast)
            let token = isLiteral ? String(Unicode.Scalar(byte)) : escape(byte)
            // Each line keeps one column free for the soft line break, except before the last character.
            if column + token.utf8.count > (isLast ? 76 : 75) {
                output += "=\r\n"
                column = 0
            }
            output += token
            column += token.utf8.count
        }
        return output
    }

    private static func escape(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "=0\(digits)" : "=\(digits)"
    }
}
