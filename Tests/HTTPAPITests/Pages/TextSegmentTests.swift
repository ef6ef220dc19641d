import Testing

@testable import HTTPAPI

struct TextSegmentTests {
    @Test(
        "makes links of web addresses and nothing else",
        arguments: [
            ("none", []),
            ("https://a.example", ["https://a.example"]),
            ("HTTP://A.example/x", ["HTTP://A.example/x"]),
            ("see http://a.example/x?a=1&b=2.", ["http://a.example/x?a=1&b=2"]),
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
        #expect(TextSegment.segments(of: text).filter(\.isLink).map(\.text) == addresses)
    }

    @Test("keeps every character of the text", arguments: ["a http://b.example/?c=d, e.", "http://", "x\r\ny", ""])
    func keepsText(text: String) {
        #expect(TextSegment.segments(of: text).map(\.text).joined() == text)
    }
}
