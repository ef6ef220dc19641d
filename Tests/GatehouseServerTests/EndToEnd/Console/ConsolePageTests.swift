import Accounts
import Administration
import Console
import Foundation
import HTTPTypes
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer
@testable import HTTPAPI

/// What all pages of the console have in common: headers, landmarks, and masked personal data.
struct ConsolePageTests {
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
        trusted-types 'none'
        """

    private static func expectHeaders(_ answer: APIClient.Answer, _ about: String) {
        let expected = [
            "content-security-policy": policy, "cache-control": "no-store", "x-frame-options": "DENY",
            "referrer-policy": "same-origin", "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin", "x-content-type-options": "nosniff",
            "content-type": "text/html; charset=utf-8",
        ]
        for (name, value) in expected {
            #expect(answer.headers[name] == [value], "\(about): \(name) is \(answer.headers[name])")
        }
        #expect(answer.headers["access-control-allow-origin"].isEmpty, "\(about)")
    }

    /// What redirects, or answers with a file.
    private static let noPages: Set = ["/console/callback", "/console/sign-in", "/console/demo/audit/export"]

    /// Every page of the console, with the ids of a person in place of parameters.
    private static func pages(of server: TestServer, for person: Person) async throws -> [String] {
        let identity = try await APIClient(server).identityID(of: "email", bearer: person.accessToken)
        let values = ["app": "demo", "uid": person.uid, "id": identity, "name": "email"]
        return server.server.api.endpoints.filter { $0.takes.isOfConsole && $0.method == .get }.map { endpoint in
            endpoint.path.split(separator: "/", omittingEmptySubsequences: false).map { part in
                part.hasPrefix("{") ? values[String(part.dropFirst().dropLast())] ?? "unknown" : String(part)
            }.joined(separator: "/")
        }.filter { !$0.contains("/assets/") && !noPages.contains($0) }
    }

    @Test func `a path without a page is answered by the console, and a list of an account by its page`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let account = "/console/demo/accounts/\(browser.person.uid)"
            for path in ["/console/demo/nothing", "/console/demo/keys/x/y/z", account + "/nothing"] {
                let view = try await browser.open(path, headers: ["accept": "text/html"])
                #expect(view.status == 404 && view.text.contains("Gatehouse console</title>"), "\(path) \(view.text)")
                #expect(view.links.contains { $0.target == "/console" }, "\(path)")
                Self.expectHeaders(view.answer, path)
            }
            let elsewhere = try await browser.open("/consoles", headers: ["accept": "text/html"])
            #expect(elsewhere.status == 404 && !elsewhere.text.contains("Gatehouse console"))
            for list in ["timeline", "sessions", "identities", "merges"] {
                let view = try await browser.open("\(account)/\(list)", following: false)
                #expect(view.status == 303 && view.location == "\(account)#\(list)", "\(list): \(view.text)")
            }
        }
    }

    @Test func `what is between backticks is shown as code, and escaped`() async throws {
        func html(remedy: String) -> String {
            let check: JSONValue = ["id": "client.refused", "sentence": "No.", "remedy": .string(remedy)]
            return ConsolePage("provider-checks", title: "Checks", ["checks": [check]]).html(in: [:])
        }
        #expect(html(remedy: "Use `<b>`, not `x`.").contains("Use <code>&lt;b&gt;</code>, not <code>x</code>.</p>"))
        #expect(html(remedy: "`a` & `").contains(": `a` &amp; `</p>"), "a backtick without another one")
        #expect(html(remedy: "`a").contains(": `a</p>") && html(remedy: "`a`").contains(": <code>a</code></p>"))
        try await ConsoleBrowser.with { _, browser in
            let audit = try await browser.open("/console/demo/audit")
            #expect(audit.text.contains("<code>key:ID</code>, <code>cli:HOST</code> or <code>account:UID</code>."))
            let explain = try await browser.open("/console/demo/explain")
            #expect(explain.text.contains("Instead of <code>linking.automatic</code> of"), "\(explain.text)")
            for page in [audit, explain] { #expect(!page.text.contains("`")) }
        }
    }

    @Test func `every page has its headers and one heading, shows nobody in clear, and stays small`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let client = APIClient(server)
            let person = try await client.register(at: server, email: "quagga.zebra@savanna.example")
            try await server.execute(
                "UPDATE accounts SET display_name = 'Quirinus Zebedee', metadata = '{\"k\": \"hidden-value\"}' WHERE uid = $1",
                [.uuid(UUID(uuidString: person.uid))])
            for path in try await Self.pages(of: server, for: person) {
                let view = try await browser.open(path)
                #expect([200, 400, 404].contains(view.status), "\(path): \(view.status) \(view.text)")
                Self.expectHeaders(view.answer, path)
                #expect(view.text.matches(of: /<h1/).count == 1, "\(path)")
                #expect(
                    view.text.matches(of: /<main/).count == 1 && view.text.contains("<html lang=\"en\">"), "\(path)")
                #expect(view.text.utf8.count <= 60_000, "\(path): \(view.text.utf8.count)")
                let hidden = ["quagga", "savanna", "Quirinus", "Zebedee", "hidden-value", person.accessToken]
                for secret in hidden + [browser.person.email] {
                    #expect(!view.text.contains(secret), "\(path) shows \(secret)")
                }
                #expect(!view.text.contains(" style=") && !view.text.contains(" onclick="), "\(path)")
                #expect(!view.text.contains("{{"), "\(path) has an unfilled template")
                let title = view.text.firstMatch(of: /<title>([^<]*)<\/title>/).map { String($0.output.1) } ?? ""
                #expect(!title.isEmpty && !title.contains(person.uid), "\(path): \(title)")
            }
        }
    }

    @Test func `pages of errors and refusals have the same headers`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let path = "/console/demo/accounts/\(UUID().uuidString.lowercased())/disable"
            let rotation = "/console/demo/keys/rotate"
            let form = try #require(try await browser.open(rotation).form(rotation))
            let answers: [(String, ConsoleBrowser.View)] = [
                ("an unknown account", try await browser.open(path)),
                ("an unknown application", try await browser.open("/console/nowhere")),
                ("a refused form", try await browser.post(rotation, form.filled(["reason.code": "whim"]))),
                ("a foreign form", try await browser.post(rotation, [])),
                ("another method", try await browser.send(.DELETE, "/console/demo")),
                ("another type", try await browser.send(.POST, rotation, form: "{}", headers: ["content-type": "a/b"])),
                ("a bad query", try await browser.open("/console/demo/messages?state=lost")),
                ("a false callback", try await browser.open("/console/callback?code=x")),
                ("the end", try await browser.open("/console/demo").submit("sign-out")),
            ]
            for (about, view) in answers {
                #expect(about == "the end" || (400..<500).contains(view.status), "\(about): \(view.status)")
                Self.expectHeaders(view.answer, about)
            }
            let stranger = try await ConsoleBrowser.signedIn(at: server, role: nil)
            Self.expectHeaders(try await stranger.open("/console/demo").answer, "somebody without a role")
        }
    }

    @Test func `redirects are not kept, and files are for good`() async throws {
        try await ConsoleBrowser.with { server, browser in
            for path in ["/console", "/console/sign-in"] {
                let answer = try await browser.open(path, following: false)
                #expect(answer.status == 303 && answer.headers["cache-control"] == ["no-store"], "\(path)")
            }
            let page = try await browser.open("/console/demo")
            for asset in [ConsoleAsset.style, ConsoleAsset.script] {
                #expect(page.text.contains("\"\(asset.path)\""))
                let file = try await APIClient(server).send(.GET, asset.path)
                #expect(file.status == 200 && file.headers["content-type"] == [asset.type])
                #expect(file.headers["cache-control"] == ["public, max-age=31536000, immutable"])
                #expect(file.headers["set-cookie"].isEmpty && file.headers["x-content-type-options"] == ["nosniff"])
            }
            #expect(ConsoleAsset.style.content.utf8.count <= 16 * 1024, "\(ConsoleAsset.style.content.utf8.count)")
            #expect(ConsoleAsset.script.content.utf8.count <= 8 * 1024, "\(ConsoleAsset.script.content.utf8.count)")
        }
    }

    @Test func `a secret is shown once, on the page after the act, in the session that made it`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let form = ["name": "reader", "scopes": "server:read", "expiresIn": "86400", "reason.code": "test"]
            let made = try await browser.submit("/console/demo/service-keys", form)
            #expect(made.status == 303, "\(made.text)")
            let line = try #require(browser.cookieLines["gatehouse-console-said"])
            #expect(!line.contains("ghk_") && line.contains("HttpOnly") && line.hasSuffix("; Max-Age=60"), "\(line)")
            let other = try await browser.secondBrowser()
            other.cookies["gatehouse-console-said"] = browser.cookies["gatehouse-console-said"]
            #expect(try await other.open("/console/demo/service-keys").shownOnce == nil, "another session")
            let shown = try await made.follow()
            let secret = try #require(shown.shownOnce, "\(shown.text)")
            #expect(try await APIClient(server).get("/admin/me", bearer: secret).status == 200)
            #expect(try await browser.open(shown.path).shownOnce == nil)
        }
    }
}
