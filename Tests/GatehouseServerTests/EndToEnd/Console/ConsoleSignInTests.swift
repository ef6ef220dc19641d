import Accounts
import Administration
import Console
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Who is let into the console, and how they sign in.
struct ConsoleSignInTests {
    private static let authorize = PageBrowser.issuer + "/oauth/authorize?"

    /// What is asked for, and where the browser is after the sign-in; `nil` for what is not there.
    private static let returns: [(asked: String, reached: String?)] = [
        ("//console/demo", "/console/demo"), ("///console//demo", "/console/demo"),
        ("/console/demo?said=x&a=b", "/console/demo?said=x&a=b"),
        ("/console/demo?a=" + String(repeating: "x", count: 6000), "/console/demo"),
        ("/console/demo//evil.example/..", nil),
    ]

    @Test func `the hosted pages sign in, and the browser gets a cookie and no token`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let line = try #require(browser.cookieLines["gatehouse-console"])
            let cookie = try #require(browser.session)
            #expect(line == "gatehouse-console=\(cookie); Path=/; HttpOnly; SameSite=Lax", "\(line)")
            #expect(cookie.utf8.count >= 43, "256 bits")
            #expect(browser.cookies["gatehouse-console-flow"] == nil, "it is dropped after its use")
            for (name, value) in browser.cookies {
                #expect(!value.hasPrefix("eyJ") && !value.contains(".ey"), "\(name)")
            }
            let tokens: StaticString = """
                SELECT count(*) FROM refresh_tokens t
                  JOIN sessions s ON s.application_id = t.application_id AND s.id = t.session_id
                 WHERE s.client_id = 'gatehouse-console'
                """
            #expect(try await server.count(tokens) == 0)
        }
    }

    @Test func `no URL on the way to the console has a token`() async throws {
        try await TestServer.withConsole { server in
            let browser = ConsoleBrowser(of: try await APIClient(server).register(at: server), at: server)
            try await server.grant(.owner, to: browser.person)
            let away = try await browser.open("/console/demo", following: false)
            let target = try #require(away.location)
            #expect(away.status == 303 && target.hasPrefix(Self.authorize), "\(target)")
            #expect(target.contains("code_challenge_method=S256") && !target.contains("prompt="))
            let flow = try #require(browser.cookieLines["gatehouse-console-flow"])
            #expect(flow.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Max-Age=1800"), "\(flow)")
            let page = try await away.follow()
            let form = try #require(page.forms.first { $0.html.contains("value=\"password\"") })
            let typed = [
                "identifier": browser.person.email, "password": browser.person.password, "action": "password",
            ]
            var view = try await browser.post(page.path, form.filled(typed))
            var places: [String] = []
            while let next = view.location {
                places.append(next)
                view = try await browser.open(next, following: false)
            }
            #expect(view.status == 200 && view.path == "/console/demo", "\(places)")
            #expect(places.contains { $0.hasPrefix(PageBrowser.issuer + "/console/callback?") }, "\(places)")
            #expect(places.allSatisfy { !$0.contains("token") && !$0.contains("eyJ") && !$0.contains("verifier") })
        }
    }

    @Test(arguments: [nil, "photos"])
    func `somebody without a role is refused, which is audited once`(application: String?) async throws {
        try await TestServer.withConsole(others: TestServer.photos) { server in
            let person = try await APIClient(server).register(at: server)
            if let application { try await server.grant(.auditor, to: person, on: application) }
            for path in ["/console", "/console/demo", "/console/demo/messages", "/console/nowhere"] {
                let browser = ConsoleBrowser(of: person, at: server)
                let events = try await server.audited {
                    let view = try await browser.signIn(opening: path)
                    if application == nil {
                        #expect(view.status == 403 && view.title == "You have no role here", "\(path) \(view.text)")
                        #expect(view.links.contains { $0.target == "/console/sign-in" })
                    } else if path == "/console" {
                        #expect(view.status == 200 && view.path == "/console/photos", "\(view.status) \(view.path)")
                    } else {
                        #expect(view.status == 404 && view.title == "There is no such application", "\(path)")
                    }
                }
                let refused = events.filter { $0.event == "admin.refused" }
                #expect(refused.count == (application == nil ? 1 : 0), "\(path): \(events)")
                guard let event = refused.first else { continue }
                let actor = try await server.pseudonym(of: person.uid).hex
                #expect(event.details["actor"]["account"].string == actor && event.details["reason"] == "role")
            }
        }
    }

    @Test func `somebody without a role signs in as somebody else`() async throws {
        try await TestServer.withConsole { server in
            let browser = try await ConsoleBrowser.signedIn(at: server, role: nil)
            let owner = try await APIClient(server).register(at: server)
            try await server.grant(.owner, to: owner)
            let asked = try await browser.open("/console/sign-in")
            let form = try #require(asked.forms.first { $0.html.contains("value=\"other\"") }, "\(asked.text)")
            let pages = try await browser.post(asked.path, form.filled(["action": "other"]))
            let former = ConsoleBrowser(of: browser.person, at: server)
            former.cookies = browser.cookies.filter { $0.key == "gatehouse-console" }
            let view = try await browser.prove(at: pages, as: owner)
            #expect(view.status == 200 && view.path == "/console/demo", "\(view.status) \(view.text)")
            let away = try await former.open("/console/demo", following: false)
            #expect(away.status == 303, "the cookie that was replaced is dead")
        }
    }

    @Test func `a role does not count in sessions of an identity that was linked later`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let client = APIClient(server)
            let evidence = VerifiedIdentity.somebody()
            let linked = try await client.link(evidence, bearer: browser.person.accessToken)
            try #require(linked.status < 300, "\(linked.text)")
            #expect(try await browser.open("/console/demo").status == 200, "the former identity goes on")
            var pages = PageBrowser(server)
            let events = try await server.audited {
                let view = try await pages.present(evidence, at: pages.open("/console/demo"))
                #expect(view.status == 403 && view.text.contains("This identity is not confirmed"), "\(view.text)")
            }
            #expect(events.count { $0.event == "admin.refused" } == 1, "\(events)")
            let start = try await pages.open("/console")
            #expect(start.status == 403 && start.text.contains("This identity is not confirmed"))
        }
    }

    @Test func `a session that another identity of the browser takes over has no role any more`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let evidence = VerifiedIdentity.somebody()
            let linked = try await APIClient(server).link(evidence, bearer: browser.person.accessToken)
            try #require(linked.status < 300, "\(linked.text)")
            var pages = PageBrowser(server)
            pages.cookies = browser.cookies
            let again = try await pages.open("/console/sign-in")
            let away = try await pages.follow("scripted", of: again)
            let view = try await pages.comeBack(from: away, ["code": evidence.proof, "time": "begin"])
            #expect(view.status == 403, "\(view.status) \(view.text)")
        }
    }

    @Test(arguments: [
        (required: "otp", isAdmitted: false), (required: "pwd", isAdmitted: true), (required: "fed", isAdmitted: false),
    ])
    func `a password counts as the method that it is`(required: String, isAdmitted: Bool) async throws {
        try await TestServer.withConsole(admin: "requireMethods: [\(required)]") { server in
            let browser = ConsoleBrowser(of: try await APIClient(server).register(at: server), at: server)
            try await server.grant(.owner, to: browser.person)
            let events = try await server.audited {
                let view = try await browser.signIn()
                #expect(view.status == (isAdmitted ? 200 : 403), "\(view.text)")
                if !isAdmitted { #expect(view.title == "This sign-in is not strong enough") }
            }
            let refused = events.filter { $0.event == "admin.refused" }
            #expect(refused.map(\.details["reason"]) == (isAdmitted ? [] : ["method"]))
        }
    }

    @Test(arguments: [
        (required: "otp", isAdmitted: false), (required: "pwd", isAdmitted: false),
        (required: "mfa", isAdmitted: false), (required: "fed", isAdmitted: true),
    ])
    func `what a provider says of its own sign-in counts as federated alone`(
        required: String, isAdmitted: Bool
    ) async throws {
        try await TestServer.withConsole(admin: "requireMethods: [\(required)]") { server in
            var evidence = VerifiedIdentity.somebody()
            evidence.methods = ["pwd", "otp", "mfa"]
            let person = try Person(
                try await APIClient(server).present(evidence, to: "scripted"), email: "", password: "")
            try await server.grant(.owner, to: person)
            var pages = PageBrowser(server)
            let view = try await pages.present(evidence, at: pages.open("/console"))
            #expect(view.status == (isAdmitted ? 200 : 403), "\(view.status) \(view.text)")
        }
    }

    @Test func `a callback counts in the browser that began, once, and with its own state`() async throws {
        try await TestServer.withConsole { server in
            let person = try await APIClient(server).register(at: server)
            try await server.grant(.owner, to: person)
            let browser = ConsoleBrowser(of: person, at: server)
            let page = try await browser.open("/console")
            let form = try #require(page.forms.first { $0.html.contains("value=\"password\"") })
            var view = try await browser.post(
                page.path,
                form.filled(["identifier": person.email, "password": person.password, "action": "password"]))
            while let next = view.location, !next.contains("/console/callback") {
                view = try await browser.open(next, following: false)
            }
            let callback = try #require(view.location)
            let other = ConsoleBrowser(of: person, at: server)
            #expect(try await other.open(callback).status == 400 && other.session == nil)
            _ = try await other.open("/console", following: false)
            #expect(try await other.open(callback).status == 400 && other.session == nil, "another state")
            let flow = browser.cookies["gatehouse-console-flow"]
            // The sealed value of one cookie is refused in another one.
            other.cookies = ["gatehouse-console": flow ?? "", "gatehouse-console-said": flow ?? ""]
            let foreign = try await other.open("/console/demo", following: false)
            #expect(foreign.status == 303 && foreign.location?.hasPrefix(Self.authorize) == true)
            for wrong in ["", "?state=", "?code=x", "?error=access_denied", "?state=a&state=b"] {
                let refused = try await browser.open("/console/callback" + wrong)
                #expect(refused.status >= 400 && refused.status < 500 && browser.session == nil, "\(wrong)")
            }
            #expect(try await browser.open(callback).status == 200)
            browser.cookies["gatehouse-console-flow"] = flow
            let replayed = try await browser.open(callback)
            #expect(replayed.status == 400 && replayed.title == "You are not signed in", "\(replayed.text)")
        }
    }

    @Test(arguments: returns)
    func `after the sign-in the browser is at the console, whatever the path looked like`(
        asked: String, reached: String?
    ) async throws {
        try await TestServer.withConsole { server in
            let browser = ConsoleBrowser(of: try await APIClient(server).register(at: server), at: server)
            try await server.grant(.owner, to: browser.person)
            let away = try await browser.open(asked, following: false)
            guard let reached else {
                #expect(away.status == 404, "\(away.status)")
                return
            }
            #expect(away.location?.hasPrefix(Self.authorize) == true, "\(away.location ?? "")")
            let line = try #require(browser.cookieLines["gatehouse-console-flow"])
            #expect(line.utf8.count <= 4096, "browsers drop longer cookies: \(line.utf8.count)")
            let view = try await browser.prove(at: away)
            #expect(view.status == 200 && view.path == reached, "\(view.status) \(view.path)")
        }
    }
}
