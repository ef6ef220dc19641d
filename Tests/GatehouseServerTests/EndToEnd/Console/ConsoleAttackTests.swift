import Accounts
import Administration
import Console
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer
@testable import HTTPAPI

/// What attackers try at the console.
struct ConsoleAttackTests {
    private static let typed = [("reason.code", "test")]
    private static let markup = #""><script>alert(1)</script>{{uid}}{{{uid}}}"# + "\u{202E}live\u{2066}"

    private func disabledAccounts(_ server: TestServer) async throws -> Int {
        try await server.count("SELECT count(*) FROM accounts WHERE disabled_at IS NOT NULL")
    }

    private func path(of person: Person, _ act: String = "disable") -> String {
        "/console/demo/accounts/\(person.uid)/\(act)"
    }

    /// Posts a form with the browser's cookies and no other header than these.
    private func post(
        _ path: String, _ fields: [(String, String)], of browser: ConsoleBrowser, headers: HTTPHeaders
    ) async throws -> APIClient.Answer {
        var headers = headers
        headers.add(name: "cookie", value: browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
        headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let form = fields.map { "\($0.formEncoded)=\($1.formEncoded)" }.joined(separator: "&")
        return try await APIClient(browser.server).send(.POST, path, raw: Array(form.utf8), headers: headers)
    }

    /// The field `csrf` that a form of the browser's session would have at a path.
    private func formToken(for path: String, of browser: ConsoleBrowser) async throws -> String {
        let (server, home) = (browser.server, try await browser.server.application())
        let sessions = ConsoleSessions(
            store: server.backend.store, sealing: server.backend.sealer, opaque: server.backend.opaque)
        let rules = ConsoleSessionRules(
            idle: .seconds(1800), lifetime: .seconds(3600), stepUp: .seconds(300), requiredMethods: [])
        let session = try #require(try await sessions.session(browser.session, rules: rules, home: home))
        return sessions.formToken(for: path, in: session)
    }

    // MARK: - Forms of others

    @Test func `a form that no page of the console has sent changes nothing`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let path = path(of: try await APIClient(server).register(at: server))
            let form = try #require(try await browser.open(path).form(path))
            let fields = form.filled(["reason.code": "test"])
            let foreign: [HTTPHeaders] = [
                ["sec-fetch-site": "cross-site", "origin": "https://evil.example"],
                ["sec-fetch-site": "cross-site", "origin": PageBrowser.issuer],
                ["sec-fetch-site": "same-site", "origin": PageBrowser.issuer],
                ["sec-fetch-site": "none", "origin": PageBrowser.issuer], ["sec-fetch-site": "Same-Origin"],
                ["sec-fetch-site": ""], ["origin": "https://evil.example"], ["origin": "null"],
                ["origin": "https://127.0.0.1:1"], ["origin": "http://127.0.0.1"],
                ["origin": PageBrowser.issuer + ".evil.example"], ["origin": PageBrowser.issuer + "/"], [:],
                ["referer": PageBrowser.issuer + path],
            ]
            for headers in foreign {
                let events = try await server.audited {
                    let answer = try await post(path, fields, of: browser, headers: headers)
                    #expect(answer.status == 403, "\(headers): \(answer.status)")
                }
                #expect(events.map(\.event) == ["admin.refused"], "\(headers)")
                #expect(events.first?.details["reason"] == "csrf")
            }
            #expect(try await disabledAccounts(server) == 0)
            // Browsers without `Sec-Fetch-Site` send the origin.
            let own = try await post(path, fields, of: browser, headers: ["origin": PageBrowser.issuer])
            #expect(own.status == 303, "\(own.text)")
            #expect(try await disabledAccounts(server) == 1)
        }
    }

    @Test func `a form of another session or path changes nothing`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let path = path(of: try await APIClient(server).register(at: server))
            let right = try #require(try await browser.open(path).form(path)?["csrf"])
            let sameSession = try await browser.open(path.replacing("/disable", with: "/delete"))
            let otherPath = try #require(sameSession.forms.first { $0.action?.hasSuffix("/delete") == true }?["csrf"])
            let others = [try await browser.secondBrowser(), try await ConsoleBrowser.signedIn(at: server)]
            var wrong = [otherPath, "", "x", right + "0", right.uppercased() + "A", String(right.dropLast())]
            for other in others { wrong.append(try #require(try await other.open(path).form(path)?["csrf"])) }
            for csrf in wrong {
                let events = try await server.audited {
                    let answer = try await browser.post(path, Self.typed + [("csrf", csrf)])
                    #expect(answer.status == 403 && answer.title == "This form is not from this session", "\(csrf)")
                    #expect(answer.alertCode == "FORBIDDEN")
                }
                #expect(events.map(\.event) == ["admin.refused"], "\(csrf)")
            }
            let missing = try await browser.post(path, Self.typed)
            let twice = try await browser.post(path, Self.typed + [("csrf", right), ("csrf", right)])
            #expect(missing.status == 403 && twice.status == 400, "\(missing.status) \(twice.status)")
            #expect(try await disabledAccounts(server) == 0)
            #expect(try await browser.post(path, Self.typed + [("csrf", right)]).status == 303)
        }
    }

    @Test func `without a session a form only leads to the sign-in`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let path = path(of: try await APIClient(server).register(at: server))
            let csrf = try #require(try await browser.open(path).form(path)?["csrf"])
            browser.cookies = [:]
            let answer = try await browser.post(path, Self.typed + [("csrf", csrf)])
            #expect(answer.status == 303 && answer.location?.contains("/oauth/authorize?") == true)
            #expect(try await disabledAccounts(server) == 0)
        }
    }

    // MARK: - Credentials of the other door

    @Test func `neither door takes the credentials of the other, or an app's`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let client = APIClient(server)
            let (key, me) = (try await server.serviceKey(), "/api/v1/admin/me")
            let cookie = try #require(browser.session)
            let sent = try await client.send(.GET, me, headers: ["cookie": "gatehouse-console=\(cookie)"])
            expectError(sent, 403, "UNAUTHORIZED_REQUEST_ORIGIN")
            for bearer in [cookie, browser.person.accessToken, browser.person.refreshToken] {
                expectError(try await client.send(.GET, me, bearer: bearer), 401, "INVALID_TOKEN")
            }
            for place in [me + "?access_token=\(key)", me + "?key=\(key)"] {
                #expect(try await client.send(.GET, place).status == 401)
            }
            for token in [key, browser.person.accessToken, browser.person.refreshToken] {
                for headers: HTTPHeaders in [
                    ["authorization": "Bearer \(token)"], ["cookie": "gatehouse-console=\(token)"],
                    ["cookie": "gatehouse-console-claim=\(token)"],
                ] {
                    let answer = try await client.send(.GET, "/console/demo", headers: headers)
                    let target = answer.headers.first(name: "location")
                    #expect(answer.status == 303 && target?.contains("/oauth/authorize?") == true, "\(headers)")
                }
                let asked = try await client.send(.GET, "/console/demo?token=\(token)")
                #expect(
                    asked.headers.allSatisfy { !$0.value.contains(token) }, "it is in no URL and no readable cookie")
            }
        }
    }

    // MARK: - Rights

    @Test func `support takes no right that it lacks, by whatever form it sends`() async throws {
        try await ConsoleBrowser.with(role: .support, on: "demo") { server, browser in
            let owner = try await APIClient(server).register(at: server)
            try await server.grant(.owner, to: owner)
            let fields = [
                "role": "owner", "name": "x", "scopes": "server:read", "expiresIn": "3600", "reason.code": "test",
            ]
            let own = "/console/demo/admins/\(browser.person.uid)"
            let attacks: [(path: String, scope: AdminScope)] = [
                (own, .writeAdmins), (own + "/revoke", .writeAdmins), ("/console/demo/service-keys", .writeAdmins),
                ("/console/demo/keys/rotate", .writeKeys), (path(of: owner, "erase"), .eraseAccounts),
                (path(of: owner, "export"), .exportAccounts), (path(of: owner), .writeAdmins),
                (path(of: owner, "sessions/end"), .writeAdmins),
            ]
            for (path, scope) in attacks {
                let csrf = try await formToken(for: path, of: browser)
                let events = try await server.audited {
                    let answer = try await browser.post(path, fields.map { ($0, $1) } + [("csrf", csrf)])
                    #expect(answer.status == 403 && answer.alertCode == "FORBIDDEN", "\(path): \(answer.text)")
                }
                #expect(events.map(\.event) == ["admin.refused"], "\(path): \(events)")
                #expect(events.first?.details["scope"].string == scope.rawValue, "\(path)")
                let actor = try await server.pseudonym(of: browser.person.uid).hex
                #expect(events.first?.details["actor"]["account"].string == actor)
            }
            #expect(try await server.count("SELECT count(*) FROM admin_grants") == 2)
            #expect(try await server.count("SELECT count(*) FROM service_keys") == 0)
            #expect(try await disabledAccounts(server) == 0)
            #expect(try await server.liveSessions(of: owner.uid) == 1)
        }
    }

    @Test func `the page of an act that a role lacks is refused, and other pages do not offer it`() async throws {
        try await ConsoleBrowser.with(role: .auditor) { server, browser in
            let path = path(of: try await APIClient(server).register(at: server))
            let events = try await server.audited {
                let view = try await browser.open(path)
                #expect(view.status == 403 && view.alertCode == "FORBIDDEN" && view.forms.isEmpty)
            }
            #expect(events.map(\.event) == ["admin.refused"])
            for link in try await browser.open("/console/demo").links where link.target.hasPrefix("/console/") {
                #expect(try await browser.open(link.target).status == 200, "\(link)")
            }
        }
    }

    @Test func `ids of another application are unknown, and a role there is none here`() async throws {
        try await ConsoleBrowser.with(others: TestServer.photos) { server, browser in
            let photos = APIClient(server, application: "photos")
            let foreign = try Person(try await photos.post("/auth/anonymous"), email: "", password: "")
            let csrf = try await formToken(for: path(of: foreign), of: browser)
            let answer = try await browser.post(path(of: foreign), Self.typed + [("csrf", csrf)])
            #expect(answer.status == 404 && answer.alertCode == "ACCOUNT_NOT_FOUND", "\(answer.text)")
            let there = path(of: foreign).replacing("/demo/", with: "/photos/")
            let token = try await formToken(for: there, of: browser)
            #expect(try await browser.post(there, Self.typed + [("csrf", token)]).status == 303, "an owner of all may")
            let visitor = try await ConsoleBrowser.signedIn(at: server, on: "photos")
            for place in ["/console/demo", path(of: foreign), "/console/nowhere"] {
                #expect(try await visitor.open(place).status == 404, "\(place)")
            }
            #expect(try await disabledAccounts(server) == 1)
        }
    }

    // MARK: - Races

    @Test func `of twenty who switch a provider by one plan, one does`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let client = try await OperatorClient.of(server)
            let plan = try await client.ask("/providers/scripted/plan", ["mode": "off"])
            let (id, confirm) = (plan["id"].string ?? "", plan["confirm"].string ?? "")
            let path = "/console/demo/providers/scripted/switch"
            let csrf = try await formToken(for: path, of: browser)
            let fields = Self.typed + [("plan", id), ("confirm", confirm), ("csrf", csrf)]
            let statuses = try await atOnce(20) { try await browser.post(path, fields).status }
            #expect(statuses.count { $0 == 303 } == 1, "\(statuses)")
            #expect(statuses.allSatisfy { [303, 409].contains($0) }, "\(statuses)")
            #expect(try await server.count("SELECT count(*) FROM provider_switches") == 1)
        }
    }

    @Test func `twenty who rotate the signing keys get new keys, or are told to wait`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let path = "/console/demo/keys/rotate"
            let csrf = try await formToken(for: path, of: browser)
            let answers = try await atOnce(20) { try await browser.post(path, Self.typed + [("csrf", csrf)]) }
            #expect(answers.contains { $0.status == 303 })
            for answer in answers where answer.status != 303 {
                #expect(answer.status == 503 && answer.alertCode == "OVERLOADED", "\(answer.status) \(answer.text)")
                #expect(answer.answer.retryAfter != nil)
            }
            #expect(try await APIClient(server).register(at: server).accessToken.isEmpty == false, "tokens are signed")
        }
    }

    // MARK: - Texts of others

    @Test func `the path of a form is the path of its page, also with encoded characters`() async throws {
        try await ConsoleBrowser.with { _, browser in
            let path = "/console/demo/keys/a%2Fb%3Fc%25%23%22/retire"
            let confirm = "retire a%2Fb%3Fc%25%23%22"
            let answer = try await browser.submit(path, ["reason.code": "test", "confirm": confirm])
            #expect(answer.status != 403 && answer.alertCode != nil, "\(answer.status) \(answer.text)")
        }
    }

    @Test func `texts of people are shown as texts`() async throws {
        try await ConsoleBrowser.with { server, browser in
            try await server.execute(
                "UPDATE accounts SET display_name = $2 WHERE uid = $1",
                [.uuid(UUID(uuidString: browser.person.uid)), .text(Self.markup)])
            let path = path(of: browser.person, "disable")
            let refused = try await browser.submit(path, ["reason.ticket": Self.markup, "reason.code": "test"])
            #expect(refused.status == 400 && refused.alertCode == "INVALID_PARAMETER", "\(refused.text)")
            #expect(refused.form(path)?["reason.ticket"] == Self.markup, "a field keeps what was typed")
            for view in [refused, try await browser.open("/console/demo")] {
                let text = view.text.replacing(/\ value="[^"]*"/, with: "")
                #expect(!view.text.contains("<script>") && !view.text.contains("{{\(browser.person.uid)"))
                #expect(text.unicodeScalars.allSatisfy { !(0x202A...0x202E).contains($0.value) })
                #expect(view.text.contains("&lt;script&gt;"), "\(view.text)")
            }
            let shown = try await browser.open("/console/demo")
            #expect(shown.text.contains("{{uid}}{{{uid}}}U+202Elive"), "\(shown.text)")
        }
    }

    @Test func `what is too large is refused as such`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let path = path(of: try await APIClient(server).register(at: server))
            let csrf = try await formToken(for: path, of: browser)
            let note = String(repeating: "x", count: 2_000_000)
            let large = try await browser.post(path, Self.typed + [("reason.note", note), ("csrf", csrf)])
            #expect([400, 413].contains(large.status), "\(large.status)")
            let long = try await browser.open("/console/demo?a=" + String(repeating: "x", count: 9000))
            #expect(long.status == 414)
            #expect(try await disabledAccounts(server) == 0)
        }
    }
}
