import Foundation
import Testing

import Pages

@testable import HTTPAPI

@Suite("Pages")
struct PageTests {
    static let all: [(name: String, page: Page)] = [
        ("verify", .verifyEmail(pathPrefix: "/apps/photos")),
        ("reset", .resetPassword(pathPrefix: "")),
        ("inbox", .inbox(InboxPayload(messages: []), server: "http://127.0.0.1:8080")),
        ("saved", .reviewed), ("expired", .reviewError(APIError(.invalidToken, ""))),
        ("empty", .reviewError(APIError(.lastUsableIdentity, ""))), ("failed", .reviewError(nil)),
        ("stranded", .strandedFlow),
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
        #expect(!page.html.contains(/<(link|img|form action)\b/))
    }

    @Test("goes out with the headers that keep it private", arguments: all.indices)
    func headers(index: Int) {
        let page = Self.all[index].page
        let headers = Dictionary(uniqueKeysWithValues: page.headers.map { ($0.name, $0.value) })
        #expect(headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(headers["Content-Security-Policy"] == page.contentSecurityPolicy)
        #expect(headers["Referrer-Policy"] == "no-referrer")
        #expect(headers["Cache-Control"] == "no-store")
        #expect(headers["X-Content-Type-Options"] == "nosniff")
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
        struct Zeros: RandomNumberGenerator {
            func next() -> UInt64 { 0 }
        }
        var zeros = Zeros()
        #expect(PageNonce(using: &zeros).text == String(repeating: "0", count: 32))
    }

    @Test("verifying waits for the button")
    func verifyEmail() {
        let html = Page.verifyEmail(pathPrefix: "/apps/photos").html
        #expect(html.contains("data-action=\"/apps/photos/api/v1/auth/verify-email\""))
        #expect(html.contains("<button>Confirm my address</button>"))
        #expect(html.contains("If you did not register, close this page"))
        #expect(html.contains("aria-live=\"polite\""))
        #expect(html.contains("const fields = {};"))
        #expect(html.firstRange(of: "addEventListener(\"submit\"") != nil)
    }

    @Test("a new password is labelled, repeated and explained")
    func resetPassword() {
        let html = Page.resetPassword(pathPrefix: "").html
        #expect(html.contains("data-action=\"/api/v1/auth/reset-password\""))
        #expect(html.matches(of: /type="password" autocomplete="new-password"/).count == 2)
        for id in ["password", "repeat", "show"] {
            #expect(html.contains("<label for=\"\(id)\">"))
            #expect(html.contains("<input id=\"\(id)\""))
        }
        for reason in ["tooShort", "tooLong", "tooGuessable"] {
            #expect(html.contains("\(reason): \""))
        }
    }

    @Test("a link with a password asks for it and sends it")
    func verifyEmailWithPassword() {
        let html = Page.verifyEmail(pathPrefix: "", asksPassword: true).html
        #expect(html.contains("<label for=\"password\">"))
        #expect(html.contains("type=\"password\" autocomplete=\"current-password\" required"))
        #expect(html.contains("const fields = { password: document.getElementById(\"password\").value };"))
        #expect(!Page.verifyEmail(pathPrefix: "").html.contains("<input"))
    }

    @Test("a review is a form of its own, without a script")
    func review() throws {
        let hostile = "\"><script>alert(1)</script>"
        let page = Page.review(
            [("id", hostile, Date(timeIntervalSince1970: 0), true)], token: hostile, pathPrefix: "/apps/photos")
        #expect(page.html.contains("<form method=\"post\" action=\"/apps/photos/review\">"))
        #expect(page.contentSecurityPolicy.contains("form-action 'self'"))
        #expect(page.contentSecurityPolicy.contains("script-src 'none'") && !page.html.contains("<script"))
        #expect(page.html.contains("Linked on 1 January 1970. It can't sign in until you keep it."))
        for choice in ["keep", "remove"] {
            #expect(page.html.contains("<input id=\"\(choice)-id\" type=\"radio\" name=\"id\" value=\"\(choice)\">"))
            #expect(page.html.contains("<label for=\"\(choice)-id\">"))
        }
    }

    @Test("what a page is told is escaped")
    func escapes() {
        let hostile = "\"><script>alert(1)</script>"
        let pages = [
            Page.verifyEmail(pathPrefix: hostile), .resetPassword(pathPrefix: hostile),
            .review([("id", hostile, Date(), false)], token: hostile, pathPrefix: hostile),
            .inbox(InboxPayload(messages: []), server: hostile),
        ]
        for page in pages {
            #expect(!page.html.contains("<script>"))
            #expect(!page.html.contains("\"><script"))
            #expect(page.html.contains("&quot;&gt;&lt;script&gt;"))
        }
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
        #expect(Page.resetPassword(pathPrefix: text).html.contains("data-action=\"\(escaped)/api/v1"))
    }
}
