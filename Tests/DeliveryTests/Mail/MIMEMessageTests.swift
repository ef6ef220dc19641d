import Accounts
import Foundation
import Testing

@testable import Delivery

struct MIMEMessageTests {
    @Test func isReadBackAsItWasWritten() throws {
        let id = UUID.v7()
        let text = "Hello,\n\nhttps://demo.example/verify?token=a=b&c=d\n.\n..two dots\nbye"
        let parsed = try ParsedMail(
            MIMEMessage(try Samples.mail(subject: "Confirm it", text: text, html: "<p>Hi</p>\n", id: id)).bytes)
        #expect(parsed["From"] == "Demo <no-reply@demo.example>")
        #expect(parsed["To"] == "ada@mail.example")
        #expect(parsed["Subject"] == "Confirm it")
        #expect(parsed["Date"] == "Thu, 05 Mar 2026 14:05:09 +0000")
        #expect(parsed["Message-ID"] == "<\(id.text)@demo.example>")
        #expect(parsed["Auto-Submitted"] == "auto-generated")
        #expect(parsed["MIME-Version"] == "1.0")
        #expect(parsed.parts.map(\.type) == ["text/plain; charset=utf-8", "text/html; charset=utf-8"])
        #expect(parsed.parts.map(\.encoding) == ["7bit", "7bit"])
        #expect(parsed.parts.map(\.text) == [text, "<p>Hi</p>"])
    }

    @Test(arguments: [
        "Grüße = viele", "=C3=BC wörtlich", "漢字 " + String(repeating: "長い行です。", count: 40), "tab\tund Blank ü \nzwei\t",
        String(repeating: "ü", count: 30) + " " + String(repeating: "a", count: 75) + "\n\n\nEnde ö",
        String(repeating: "long", count: 300), "a\r\nb\rc\nü", "null \u{0} and \u{7F}", "👩‍👩‍👧‍👦 family", "ü\n.\n.ü",
    ])
    func anyTextSurvivesItsEncoding(text: String) throws {
        let mail = try Samples.mail(text: text, html: text)
        let parsed = try ParsedMail(MIMEMessage(mail).bytes)
        var expected = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        expected = expected.hasSuffix("\n") ? String(expected.dropLast()) : expected
        #expect(parsed.parts.map(\.text) == [expected, expected])
        #expect(parsed.parts.map(\.encoding) == ["quoted-printable", "quoted-printable"])
    }

    @Test(arguments: [
        "Grüße von Demo", "Confirm your address for 漢字の長い名前のアプリケーション, the one with the very long name",
        String(repeating: "long ", count: 100) + "end", "=?UTF-8?B?SGk=?= taken literally", "👩‍👩‍👧‍👦",
    ])
    func anySubjectIsReadBack(subject: String) throws {
        let bytes = MIMEMessage(try Samples.mail(subject: subject)).bytes
        #expect(try ParsedMail(bytes).decoded("Subject") == subject)
        let header = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n\r\n")[0]
        let lines = header.components(separatedBy: "\r\n")
        #expect(lines.allSatisfy { $0.utf8.count <= 76 })
        #expect(header.utf8.allSatisfy { $0 < 128 })
    }

    /// All characters that a mail reader may treat as a line break.
    @Test(arguments: [
        "\r\n", "\n", "\r", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}", "\u{0}", "\r\n\r\n", "\n\n",
    ])
    func noSubjectAddsAField(lineBreak: String) throws {
        let bytes = MIMEMessage(try Samples.mail(subject: "Hi\(lineBreak)Bcc: eve@evil.example")).bytes
        let parsed = try ParsedMail(bytes)
        #expect(parsed["Bcc"] == nil)
        #expect(parsed.parts.count == 2)
        #expect(parsed.fields.count == 9)
        #expect(try #require(parsed.decoded("Subject")).hasPrefix("Hi "))
    }

    @Test(arguments: [
        ("Demo <a@b.example>", "Demo <a@b.example>"), ("a@b.example", "a@b.example"),
        ("The \"App\" <a@b.example>", nil), ("\"Demo, Inc.\" <a@b.example>", "\"Demo, Inc.\" <a@b.example>"),
        ("Demo, Inc. <a@b.example>", "\"Demo, Inc.\" <a@b.example>"),
        ("\"a \\\"b\\\" c\" <a@b.example>", "\"a \\\"b\\\" c\" <a@b.example>"),
        ("Café <a@b.example>", "=?UTF-8?B?Q2Fmw6k=?= <a@b.example>"),
        ("Evil <x@y.example> <a@b.example>", nil), ("Demo <a@b.example", nil), ("Demo", nil), ("", nil),
        ("Demo\r\nBcc: e@evil.example <a@b.example>", nil), ("Demo <a@b.example\r\n>", nil),
        ("Demo\u{2028} <a@b.example>", nil), ("a@b.example, c@d.example", nil), ("<a@b.example>", "a@b.example"),
    ])
    func theSenderIsOneMailboxOrNone(text: String, field: String?) throws {
        guard let field else {
            #expect(throws: DeliveryError.self) { try Mailbox(text) }
            return
        }
        #expect(try ParsedMail(MIMEMessage(try Samples.mail(from: text)).bytes)["From"] == field)
    }

    @Test func theSameMailIsTheSameBytes() throws {
        let mail = try Samples.mail(subject: "Grüße", text: "ü")
        #expect(MIMEMessage(mail).bytes == MIMEMessage(mail).bytes)
    }
}
