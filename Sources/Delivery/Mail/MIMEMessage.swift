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
