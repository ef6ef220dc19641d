import Foundation
import Testing

import Pages

@testable import HTTPAPI

@Suite("Pages")
struct PageTests {
    static let all: [(name: String, page: Page)] = [
        ("inbox", .inbox(InboxPayload(messages: []), server: "http://127.0.0.1:8080"))
    ]

    @Test("nothing comes from elsewhere, and no script but the page's own runs", arguments: all.indices)
    func policy(index: Int) throws {
        let page = Self.all[index].page
        let policy = page.contentSecurityPolicy
        for directive in ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"] {
            #expect(policy.contains(directive))
        }
        let scripts = page.html.matches(of: /<script[^>]*>/)
        #expect(scripts.count <= 1)
        if let script = scripts.first {
            let nonce = try #require(script.output.firstMatch(of: /nonce="([0-9a-f]{32})"/)).output.1
            #expect(policy.contains("script-src 'nonce-\(nonce)';"))
        } else {
            #expect(policy.contains("script-src 'none'"))
        }
        #expect(!page.html.contains(/\s(src|on\w+)=/))
        #expect(!page.html.contains(/<(link rel="(?!icon)|img\b|form action\b)/))
    }

    @Test("goes out with the headers that keep it private", arguments: all.indices)
    func headers(index: Int) {
        let page = Self.all[index].page
        let headers = Dictionary(uniqueKeysWithValues: page.headers.map { ($0.name, $0.value) })
        #expect(headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(headers["Content-Security-Policy"] == page.contentSecurityPolicy)
        #expect(headers["Referrer-Policy"] == "no-referrer")
        #expect(headers["Cache-Control"] == "no-store")
    }

    @Test("speaks a language, fits a phone and follows the colour scheme", arguments: all.indices)
    func basics(index: Int) {
        let html = Self.all[index].page.html
        #expect(html.hasPrefix("<!doctype html>\n<html lang=\"en\">"))
        #expect(html.contains("width=device-width"))
        #expect(html.contains("prefers-color-scheme: dark"))
        #expect(html.contains("<h1>"))
    }

    @Test("no two responses share a nonce")
    func nonces() {
        let nonces = Set((0..<100).map { _ -> String in PageNonce().text })
        #expect(nonces.count == 100)
        #expect(nonces.allSatisfy { $0.utf8.count == 32 })
    }

    @Test(
        "escaping looks at scalars",
        arguments: [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onmouseover=\"x", "&quot; onmouseover=&quot;x"),
            ("\"\u{301} x='<\u{301}", "&quot;\u{301} x=&#39;&lt;\u{301}"),
            ("it's", "it&#39;s"), ("&lt;", "&amp;lt;"), ("é 👩‍👩‍👧 \u{301}", "é 👩‍👩‍👧 \u{301}"),
        ])
    func escapes(text: String, escaped: String) {
        let html = Page.inbox(InboxPayload(messages: []), server: text).html
        #expect(html.contains("curl \(escaped)/api/v1/auth/register") && !html.contains("<script>alert"))
    }
}
