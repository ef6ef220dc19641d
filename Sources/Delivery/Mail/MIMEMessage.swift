internal import Accounts
internal import Foundation
internal import ProviderKit

/// A mail in wire format (RFC 5322, RFC 2045), with text and HTML as alternatives and CRLF as line end.
///
/// Equal mails give equal bytes. Addresses beyond ASCII are written to `To` unencoded (RFC 6532), which requires a
/// relay with SMTPUTF8; libcurl requests that extension. libcurl also doubles dots at line starts.
struct MIMEMessage {
    let bytes: [UInt8]

    init(_ mail: Mail) {
        let boundary = "=_\(mail.id.text)"
        let text = BodyPart(mail.content.text)
        let html = BodyPart(mail.content.html)
        let fields = [
            "From: \(Self.sender(mail.from))",
            "To: \(mail.to.value)",
            "Subject: \(HeaderText.unstructured(mail.content.subject))",
            "Date: \(mail.date.formatted(Self.dateFormat))",
            "Message-ID: <\(mail.id.text)@\(mail.from.address.domain)>",
            "Auto-Submitted: auto-generated",
            "Content-Language: \(HeaderText.unstructured(mail.content.language))",
            "MIME-Version: 1.0",
            "Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"",
        ]
        let header = fields.map { $0 + "\r\n" }.joined()
        let parts = Self.part("plain", text, after: boundary) + Self.part("html", html, after: boundary)
        bytes = Array("\(header)\r\n\(parts)--\(boundary)--\r\n".utf8)
    }

    private static func part(_ subtype: String, _ body: BodyPart, after boundary: String) -> String {
        """
        --\(boundary)\r
        Content-Type: text/\(subtype); charset=utf-8\r
        Content-Transfer-Encoding: \(body.encoding)\r
        \r
        \(body.content)
        """
    }

    private static func sender(_ mailbox: Mailbox) -> String {
        guard !mailbox.displayName.isEmpty else { return mailbox.address.value }
        return "\(HeaderText.phrase(mailbox.displayName))\r\n <\(mailbox.address.value)>"
    }

    /// The format of `Date` (RFC 5322, 3.3), in UTC.
    private static let dateFormat = Date.VerbatimFormatStyle(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
            \(second: .twoDigits) +0000
            """,
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}

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
            let token = isLiteral ? String(Unicode.Scalar(byte)) : "=" + [byte].hex.uppercased()
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
}

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
        byte.isASCIILetterOrDigit || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
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
