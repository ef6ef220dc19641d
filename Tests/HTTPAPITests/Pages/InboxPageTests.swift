import Accounts
import Foundation
import ProviderKit
import Testing

import Pages

@testable import HTTPAPI

@Suite("Inbox page")
struct InboxPageTests {
    static func message(
        kind: DeliveredMessage.Kind = .email, subject: String? = "Hello", text: String = "Text", html: String? = nil,
        to: String = "ann@example.com", from: String = "Demo <no-reply@demo.example>", application: String = "demo"
    ) -> DeliveredMessage {
        DeliveredMessage(
            id: UUID(), kind: kind, application: application, from: from, to: to, subject: subject, text: text,
            html: html, sentAt: Date(timeIntervalSince1970: 1_706_601_600.5))
    }

    static func html(_ messages: DeliveredMessage...) -> String {
        Page.inbox(InboxPayload(messages: messages), server: "http://127.0.0.1:8080").html
    }

    @Test("explains itself while it is empty")
    func empty() {
        #expect(Self.html().contains("<section id=\"empty\">"))
        #expect(Self.html().contains("curl http://127.0.0.1:8080/api/v1/auth/register"))
        #expect(Self.html(Self.message()).contains("<section id=\"empty\" hidden>"))
    }

    @Test("shows messages in the order given, each with what a reader looks for")
    func shows() {
        let html = Self.html(
            Self.message(kind: .sms, subject: nil, text: "123456 is your code", to: "+33612345678"),
            Self.message(subject: "Confirm", text: "http://a.example/v?token=x"))
        #expect(html.matches(of: /<details id="m-[0-9a-f-]{36}">/).count == 2)
        #expect(html.contains("<span class=\"subject\">123456 is your code</span>"))
        #expect(html.contains("<b>+33612345678</b>"))
        #expect(html.contains("datetime=\"2024-01-30T08:00:00.500Z\""))
        #expect(html.contains("From Demo &lt;no-reply@demo.example&gt;, application demo"))
        #expect(html.contains("<a href=\"http://a.example/v?token=x\" target=\"_blank\""))
        let code = html.firstRange(of: "123456")
        let link = html.firstRange(of: "token=x")
        #expect(code.map { code in link.map { code.lowerBound < $0.lowerBound } } == true)
    }

    @Test("no field brings markup into the page")
    func injection() {
        let hostile = "</div><script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"alert(1)"
        let html = Self.html(
            Self.message(
                subject: hostile, text: hostile, html: hostile, to: hostile, from: hostile, application: hostile),
            Self.message(subject: nil, text: hostile))
        #expect(html.matches(of: /<script/).count == 1)
        #expect(!html.contains("<img"))
        #expect(!html.contains("\" onload=\""))
    }

    @Test("a mail's HTML is shown without scripts, without an origin, with links that open")
    func frame() throws {
        let html = Self.html(Self.message(html: "<p>Hi</p><a href=\"javascript:alert(1)\">x</a>"))
        let frame = try #require(html.firstMatch(of: /<iframe ([^>]*)>/)).output.1
        #expect(frame.contains("sandbox=\"allow-popups allow-popups-to-escape-sandbox\""))
        #expect(frame.contains("&lt;base target=&quot;_blank&quot;&gt;&lt;p&gt;Hi"))
        #expect(frame.contains("title="))
        #expect(!html.contains("<a href=\"javascript:"))
        #expect(!Self.html(Self.message(html: nil)).contains("<iframe"))
    }

    @Test("scripts of a frame would need the page's nonce, and no image is fetched")
    func policy() {
        let policy = Page.inbox(InboxPayload(messages: []), server: "").contentSecurityPolicy
        #expect(policy.contains(/script-src 'nonce-[0-9a-f]{32}';/))
        #expect(policy.contains("img-src data:"))
        #expect(policy.contains("connect-src 'self'"))
    }

    @Test("the JSON names every field, null included")
    func json() throws {
        let message = Self.message(kind: .sms, subject: nil)
        let json = try #require(JSONValue(json: InboxPayload(messages: [message]).json))
        #expect(
            json["messages", 0]
                == .object([
                    "id": .string(message.id.uuidString.lowercased()), "kind": .string("sms"),
                    "application": .string("demo"), "from": .string("Demo <no-reply@demo.example>"),
                    "to": .string("ann@example.com"), "subject": .null, "text": .string("Text"), "html": .null,
                    "sentAt": .string("2024-01-30T08:00:00.500Z"),
                ]))
    }
}
