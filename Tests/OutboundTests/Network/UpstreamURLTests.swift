import Testing

@testable import Outbound

struct UpstreamURLTests {
    @Test(arguments: [
        ("https://id.example/a?b=c#d", "https://id.example:443/a?b=c"),
        ("HTTPS://ID.Example", "https://id.example:443/"),
        ("http://id.example.:81/a", "http://id.example:81/a"),
        ("https://id.example?x", "https://id.example:443/?x"),
        ("https://[2001:DB8::1]/", "https://[2001:db8::1]:443/"),
        ("https://[::FFFF:7f00:1]:8443", "https://127.0.0.1:8443/"),
        ("https://127.1/a", "https://127.1:443/a"),
        ("https://id.example/a/../b//c", "https://id.example:443/a/../b//c"),
        ("https://id.example/@x:y", "https://id.example:443/@x:y"),
    ])
    func reads(_ text: String, as expected: String) {
        #expect(UpstreamURL(text)?.text == expected)
    }

    @Test(arguments: [
        "", "id.example", "/a", "ftp://id.example/", "file:///etc/passwd", "http+unix://x/", "unix:///x", "https:/a",
        "https://", "https:///a", "https://user@id.example/", "https://user:pw@id.example/", "https://id.example@evil/",
        "https://id.example:0/", "https://id.example:65536/", "https://id.example:/", "https://id.example:+80/",
        "https://id.example:99999999999999999999/", "https://id.ex\u{E4}mple/", "https://id%2eexample/", "https://a b/",
        "https://id.example/a b", "https://id.example\\@evil.example/", "https://id.example/\r\nHost: x",
        "https://[::1/",
        "https://::1/", "https://[fe80::1%25eth0]/", "https://[127.0.0.1]/", "https://.example/", "https://example../",
        "https://[::1]x/", "https://\u{FF11}27.0.0.1/", "https://id.example\u{0}/", "https://id.example|/",
    ])
    func refuses(_ text: String) {
        #expect(UpstreamURL(text) == nil)
    }

    @Test(
        arguments: [
            ("/b", "https://id.example:443/b"), ("c?d", "https://id.example:443/a/c?d"),
            ("https://ID.example:443/b", "https://id.example:443/b"), ("//id.example/x", "https://id.example:443/x"),
            ("http://id.example/b", nil), ("https://id.example:444/b", nil), ("https://evil.example/", nil),
            ("//evil.example/", nil), ("https://id.example@evil.example/", nil), ("file:///x", nil),
            ("\\\\evil.example", nil),
        ] as [(String, String?)])
    func followsToTheSameOriginAlone(_ location: String, to expected: String?) {
        #expect(UpstreamURL("https://id.example/a/b")?.following(location: location)?.text == expected)
    }
}
