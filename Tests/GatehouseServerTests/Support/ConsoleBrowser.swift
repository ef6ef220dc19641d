import Accounts
import Administration
import Foundation
import HTTPAPI
import NIOHTTP1
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// A browser without scripts in which an administrator uses the console.
///
/// Unlike `PageBrowser` it shows redirects, so that a test sees the answer to a form before the page after it.
final class ConsoleBrowser: Sendable {
    let server: TestServer
    let person: Person
    private let pages: Mutex<PageBrowser>

    /// A browser of a person that is not signed in.
    init(of person: Person, at server: TestServer) {
        (self.server, self.person) = (server, person)
        pages = Mutex(PageBrowser(server))
    }

    /// What the browser shows.
    struct View: Sendable {
        let browser: ConsoleBrowser
        let path: String
        let answer: APIClient.Answer

        var status: Int { answer.status }
        var text: String { answer.text }
        var headers: HTTPHeaders { answer.headers }
        /// Where a redirect leads.
        var location: String? { headers.first(name: "location") }
        /// The heading of the page.
        var title: String? { element(/<h1[^>]*>([^<]*)<\/h1>/) }
        /// The code of the error for which a form was refused.
        var alertCode: String? { element(/role="alert"[^>]*data-code="(\w+)"/) }
        /// What the page says was done.
        var said: String? { element(/<p role="status"[^>]*>([^<]*)<\/p>/) }
        /// A secret or link that is shown this once.
        var shownOnce: String? { element(/<code id="shown-once">([^<]*)<\/code>/) }
        var forms: [PageForm] { PageForm.all(in: text) }
        /// The links of the page by what they say.
        var links: [(text: String, target: String)] {
            text.matches(of: /(?s)<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/).map {
                (String($0.output.2).unescapedHTML, String($0.output.1).unescapedHTML)
            }
        }

        /// A form by its `id`, or by the path that it is sent to.
        func form(_ name: String) -> PageForm? { forms.first { $0.id == name || $0.action == name } }

        /// The page that the answer leads to.
        func follow() async throws -> View {
            try await browser.open(try #require(location, "no redirect: \(status) \(text)"))
        }

        /// Sends a form of the page as it is, but for these fields, and returns the answer as it is.
        func submit(_ name: String, _ fields: [String: String] = [:], headers: HTTPHeaders = [:]) async throws -> View {
            let sent = try #require(form(name), "no form \(name) among \(forms.map(\.action)): \(status) \(text)")
            return try await browser.post(sent.action ?? path, sent.filled(fields), headers: headers)
        }

        private func element(_ pattern: some RegexComponent<(Substring, Substring)>) -> String? {
            text.firstMatch(of: pattern).map { String($0.output.1).unescapedHTML }
        }
    }

    /// The cookies by name.
    var cookies: [String: String] {
        get { pages.withLock { $0.cookies } }
        set { pages.withLock { $0.cookies = newValue } }
    }
    /// The header with which each cookie was set last.
    var cookieLines: [String: String] { pages.withLock { $0.cookieLines } }
    /// The cookie of the session at the console.
    var session: String? { cookies["gatehouse-console"] ?? cookies["__Host-gatehouse-console"] }

    /// Opens a path, or a URL of the server, and follows redirects within the server unless that is not wanted.
    func open(_ place: String, following: Bool = true, headers: HTTPHeaders = [:]) async throws -> View {
        var view = try await send(.GET, place, headers: headers)
        for _ in 0..<10 {
            guard following, view.status == 303, let next = view.location,
                next.hasPrefix(PageBrowser.issuer + "/") || next.hasPrefix("/")
            else { return view }
            view = try await send(.GET, next)
        }
        throw TimeoutError()
    }

    /// Opens the page of a form at a path, sends the form, and returns the answer as it is.
    ///
    /// A form that stands on another page is sent from there, with the method `submit` of a view.
    func submit(_ path: String, _ fields: [String: String] = [:]) async throws -> View {
        try await open(path).submit(path, fields)
    }

    /// Posts fields as they are, with the headers that browsers send with forms of the console unless others are given.
    func post(_ path: String, _ fields: [(String, String)], headers: HTTPHeaders = [:]) async throws -> View {
        let form = fields.map { "\($0.formEncoded)=\($1.formEncoded)" }.joined(separator: "&")
        return try await send(.POST, path, form: form, headers: headers)
    }

    /// Sends one request, with an encoded form if there is one.
    func send(
        _ method: HTTPMethod, _ place: String, form: String? = nil, headers: HTTPHeaders = [:]
    ) async throws -> View {
        var browser = pages.withLock { $0 }
        let before = browser.cookies
        browser.headers = headers
        let view = try await browser.exchange(method, place, form: form)
        let after = (browser.cookies, browser.cookieLines)
        pages.withLock { shared in
            // Another request may have changed other cookies meanwhile.
            for name in Set(before.keys).union(after.0.keys) where before[name] != after.0[name] {
                shared.cookies[name] = after.0[name]
            }
            shared.cookieLines.merge(after.1) { $1 }
        }
        return View(browser: self, path: view.path, answer: view.answer)
    }
}

/// A form of a page of the console.
struct PageForm: Sendable {
    let id: String?
    /// The path that it is sent to; `nil` for that of the page.
    let action: String?
    /// The names and values that the browser would send as the page is.
    let fields: [(name: String, value: String)]
    /// The names of all its fields, boxes that are not checked included.
    let names: Set<String>
    let html: String

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The fields with others in place of those of the same names; an empty value leaves a field out.
    func filled(_ others: [String: String]) -> [(String, String)] {
        fields.filter { others[$0.name] == nil }.map { ($0.name, $0.value) }
            + others.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    static func all(in page: String) -> [PageForm] {
        page.matches(of: /(?s)<form ([^>]*)>(.*?)<\/form>/).map { form in
            let (start, html) = (String(form.output.1), String(form.output.2))
            return PageForm(
                id: start.attribute("id"), action: start.attribute("action"), fields: values(in: html),
                names: Set(
                    html.matches(of: /<(?:input|select|textarea) [^>]*>/).compactMap {
                        String($0.output).attribute("name")
                    }), html: html)
        }
    }

    private static func values(in html: String) -> [(name: String, value: String)] {
        var fields: [(String, String)] = []
        for tag in html.matches(of: /<input [^>]*>/).map({ String($0.output) }) {
            guard let name = tag.attribute("name") else { continue }
            if tag.attribute("type") == "checkbox", !tag.contains(" checked") { continue }
            fields.append((name, tag.attribute("value") ?? ""))
        }
        for area in html.matches(of: /(?s)<textarea ([^>]*)>\n?(.*?)<\/textarea>/) {
            guard let name = String(area.output.1).attribute("name") else { continue }
            fields.append((name, String(area.output.2).unescapedHTML))
        }
        for select in html.matches(of: /(?s)<select ([^>]*)>(.*?)<\/select>/) {
            guard let name = String(select.output.1).attribute("name") else { continue }
            let chosen = select.output.2.matches(of: /<option [^>]*>/).map { String($0.output) }
                .first { $0.contains(" selected") }
            fields.append((name, chosen?.attribute("value") ?? ""))
        }
        return fields
    }
}

extension String {
    /// The value of an attribute of a tag.
    fileprivate func attribute(_ name: String) -> String? {
        matches(of: /([\w-]+)="([^"]*)"/).first { $0.output.1 == name }.map { String($0.output.2).unescapedHTML }
    }
}

// MARK: - Administrators

extension ConsoleBrowser {
    /// Runs the body against a server with a console, and the browser of an administrator who is signed in there.
    ///
    /// `on` is an application, or `all`. `application`, `providers` and `others` are as in `TestServer.with`.
    static func with(
        role: AdminScope.Role? = .owner, on: String = "all", admin: String = "", application: String = "",
        providers: String = "scripted: {}\nphone: { enabled: true }", others: String = "",
        rateLimits: String = "off",
        _ body: @Sendable @escaping (TestServer, ConsoleBrowser) async throws -> Void
    ) async throws {
        try await TestServer.withConsole(
            admin: admin, application: application, providers: providers, others: others, rateLimits: rateLimits
        ) { server in
            try await body(server, signedIn(at: server, role: role, on: on))
        }
    }

    /// The browser of a new person who is signed in to the console; without a role its last page is a refusal.
    static func signedIn(
        at server: TestServer, role: AdminScope.Role? = .owner, on: String = "all"
    ) async throws -> ConsoleBrowser {
        let person = try await APIClient(server).register(at: server)
        if let role { try await server.grant(role, to: person, on: on) }
        let browser = ConsoleBrowser(of: person, at: server)
        let view = try await browser.signIn()
        try #require(view.status == (role == nil ? 403 : 200), "\(view.status) \(view.path) \(view.text)")
        return browser
    }

    /// Another browser of the same person, signed in too.
    func secondBrowser() async throws -> ConsoleBrowser {
        let browser = ConsoleBrowser(of: person, at: server)
        _ = try await browser.signIn()
        return browser
    }

    /// Opens a path and signs in at the hosted pages that it leads to.
    /// - Returns: the page of the console where the browser ends.
    @discardableResult
    func signIn(opening path: String = "/console", as other: Person? = nil) async throws -> View {
        try await prove(at: open(path), as: other)
    }

    /// Proves who the person is, with the password, at the hosted page that is shown; follows a redirect to it first.
    @discardableResult
    func prove(at view: View, as other: Person? = nil) async throws -> View {
        let page = try await view.location == nil ? view : view.follow()
        let form = try #require(
            page.forms.first { $0.html.contains("value=\"password\"") }, "no sign-in page: \(page.status) \(page.text)")
        let who = other ?? person
        let typed = ["identifier": who.email, "password": who.password, "action": "password"]
        let answer = try await post(page.path, form.filled(typed))
        return try await answer.location == nil ? answer : answer.follow()
    }
}

extension TestServer {
    /// Runs the body against a server with a console, whose administrators are accounts of `demo`.
    static func withConsole<Output: Sendable>(
        database: String? = nil, server: String = "development: true", admin: String = "", application: String = "",
        providers: String = "scripted: {}\nphone: { enabled: true }", others: String = "", rateLimits: String = "off",
        webhooks: String = "[]", _ body: @Sendable @escaping (TestServer) async throws -> Output
    ) async throws -> Output {
        try await with(
            database: database, server: server,
            application: application.contains("openid:") ? application : "openid: {}\n" + application,
            providers: providers, others: others, rateLimits: rateLimits, webhooks: webhooks,
            admin: "{ application: demo, console: true\(admin.isEmpty ? "" : ", " + admin) }", body)
    }

    /// Grants a person a role on an application, or on `all`.
    func grant(_ role: AdminScope.Role, to person: Person, on: String = "all") async throws {
        let uid = try #require(UUID(uuidString: person.uid))
        let target = try await on == "all" ? nil : application(named: on)
        try await adminGrants().grant(role, to: uid, on: target, by: Self.operations)
    }

    func revoke(_ person: Person, on: String = "all") async throws {
        let uid = try #require(UUID(uuidString: person.uid))
        let target = try await on == "all" ? nil : application(named: on)
        try await adminGrants().revoke(uid, on: target, by: Self.operations)
    }

    /// A link that makes an administrator, as `gatehouse admin invite` prints it or as the inviter makes it.
    func adminLink(
        _ role: AdminScope.Role = .owner, on name: String? = nil, email: String? = nil, inviter: UUID? = nil
    ) async throws -> String {
        var target: Accounts.Application?
        if let name { target = try await application(named: name) }
        let console = try #require(backend.configuration.console)
        let invitation = try NewAdminInvitation(
            role: role, application: target, email: email, lifetime: nil, inviter: inviter)
        let invitations = AdminInvitations(
            store: backend.store, opaque: backend.opaque, home: try await application())
        return try await invitations.make(invitation, at: console.url, by: Self.operations).link
    }

    private func adminGrants() async throws -> AdminGrants {
        AdminGrants(store: backend.store, home: try await application())
    }
}
