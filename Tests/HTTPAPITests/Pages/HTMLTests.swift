import Testing

@testable import HTTPAPI

@Suite("HTML")
struct HTMLTests {
    @Test(
        "escapes what is interpolated",
        arguments: [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onmouseover=\"x", "&quot; onmouseover=&quot;x"),
            ("it's", "it&#39;s"),
            ("&lt;", "&amp;lt;"),
            ("é 👩‍👩‍👧 \u{301}", "é 👩‍👩‍👧 \u{301}"),
        ])
    func escapes(text: String, escaped: String) {
        let html: HTML = "<p title=\"\(text)\">\(text)</p>"
        #expect(html.markup == "<p title=\"\(escaped)\">\(escaped)</p>")
    }

    @Test("leaves markup as it is")
    func markup() {
        let inner: HTML = "<b>\("<")</b>"
        let outer: HTML = "<p>\(inner)</p>"
        #expect(outer.markup == "<p><b>&lt;</b></p>")
    }

    @Test(
        "makes links of web addresses and nothing else",
        arguments: [
            ("none", []),
            ("https://a.example", ["https://a.example"]),
            ("HTTP://A.example/x", ["HTTP://A.example/x"]),
            ("see http://a.example/x?a=1&b=2.", ["http://a.example/x?a=1&amp;b=2"]),
            ("(https://a.example/y), then\nhttps://b.example/#z!", ["https://a.example/y", "https://b.example/#z"]),
            ("<https://a.example/>", ["https://a.example/"]),
            ("http://[::1]:8080/v", ["http://[::1]:8080/v"]),
            ("javascript:alert(1)", []),
            ("JavaScript://a.example/%0aalert(1)", []),
            ("javascript:location='http://a.example'", ["http://a.example"]),
            ("data:text/html,x vbscript:x file:///etc/passwd", []),
            ("xhttp://a.example", []),
            ("http:// https://. http:///x", []),
            ("https://a.example/\" onclick=\"x", ["https://a.example/"]),
            ("https://a.example/'><b>", ["https://a.example/"]),
        ])
    func links(text: String, addresses: [String]) {
        let markup = HTML(linking: text).markup
        #expect(markup.matches(of: /href="([^"]*)"/).map { String($0.output.1) } == addresses)
        let link = /<a href="[^"<>]*" target="_blank" rel="noopener noreferrer">|<\/a>/
        #expect(!markup.replacing(link, with: "").contains("<"))
    }

    @Test("keeps every character of the text", arguments: ["a http://b.example/?c=d, e.", "http://", "x\r\ny", ""])
    func keepsText(text: String) {
        #expect(HTML(linking: text).markup.replacing(/<[^>]*>/, with: "") == text)
    }
}
