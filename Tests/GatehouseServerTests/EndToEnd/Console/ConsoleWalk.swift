import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// An administrator who uses the console in a real browser, by clicks and keys alone, with scripts or without.
///
/// On the way it is checked that the browser blocks nothing, reports no error and asks no other host, that each page is
/// small and is not stored, and that no title, URL or `Referer` has a person's address.
final class ConsoleWalk {
    static let mostBytes = 60_000

    let browser: Chromium
    let server: TestServer
    let person: Person
    /// The person whose account the administrator looks after.
    let other: Person
    /// Whether pages of the console run their scripts.
    let runsScripts: Bool
    private var titles: Set<String> = []

    private init(_ browser: Chromium, _ server: TestServer, of person: Person, other: Person, scripts: Bool) {
        (self.browser, self.server, self.person, self.other, runsScripts) = (browser, server, person, other, scripts)
    }

    /// Runs the body in a new browser, and checks afterwards what it has seen.
    ///
    /// The person has the role and is signed in; with `nil` they have none, and the browser has opened nothing yet.
    static func with(
        _ server: TestServer, scripts: Bool = true, role: AdminScope.Role? = .owner,
        _ body: (ConsoleWalk) async throws -> Void
    ) async throws {
        let (person, other) = (
            try await APIClient(server).register(at: server), try await APIClient(server).register(at: server)
        )
        if let role { try await server.grant(role, to: person) }
        try await Chromium.with(server) { browser in
            _ = try await browser.call("Runtime.enable")
            if !scripts { try await browser.disableScripts() }
            let walk = ConsoleWalk(browser, server, of: person, other: other, scripts: scripts)
            if role != nil {
                try await walk.go(to: Self.signInPage) { try await browser.open(PageBrowser.issuer + "/console") }
                try await walk.prove()
            }
            try await body(walk)
            try await walk.expectDiscretion()
        }
    }

    // MARK: - Clicks and keys

    /// The conditions for pages of the console, and for the pages on which people sign in or prove who they are.
    static let console = "document.body.matches('.console')"
    static let signInPage = "document.querySelector('button[value=password]')"

    /// Opens a path by hand.
    func open(_ path: String) async throws {
        try await go { try await browser.open(PageBrowser.issuer + path) }
    }

    /// Clicks the first link with the text.
    func click(_ text: String) async throws {
        try await go { try await browser.click(Self.link(text)) }
    }

    /// Clicks the first link that leads to a path with this end.
    func follow(_ end: String) async throws {
        try await go { try await browser.click("document.querySelector('a[href$=\"\(end)\"]')") }
    }

    /// Fills in fields of a form, which is given by its id or by the end of the path that it is sent to, and clicks its
    /// button.
    func press(
        _ form: String, _ fields: KeyValuePairs<String, String> = [:], to page: String = ConsoleWalk.console
    ) async throws {
        try await fill(form, fields)
        try await go(to: page) { try await browser.click(Self.button(of: form)) }
    }

    /// Types texts, chooses from lists, and checks the boxes with these values.
    func fill(_ form: String, _ fields: KeyValuePairs<String, String>) async throws {
        for (name, value) in fields {
            let field = Self.field(name, value, of: form)
            switch try await browser.evaluate("\(field)?.type").string {
            case "select-one": try await choose(value, from: field)
            case "checkbox": try await browser.click(field)
            case nil: Issue.record("\(form) has no field \(name)")
            default: try await browser.type(value, over: field)
            }
        }
    }

    /// Chooses from a list with the arrow keys.
    private func choose(_ value: String, from list: String) async throws {
        let steps = try await browser.evaluate(
            """
            (list => {
                list.scrollIntoView({block: 'center', behavior: 'instant'});
                list.focus();
                return [...list.options].findIndex(option => option.value === '\(value)') - list.selectedIndex;
            })(\(list))
            """)
        for _ in 0..<abs(steps.integer ?? 0) { try await browser.press((steps.integer ?? 0) > 0 ? .down : .up) }
        #expect(try await browser.evaluate("\(list).value").string == value)
    }

    /// Proves who the person is, with the password, at the page that asks for it.
    func prove() async throws {
        if try await browser.evaluate("document.getElementById('identifier').readOnly") != true {
            try await browser.type(person.email, over: "document.getElementById('identifier')")
        }
        try await browser.type(person.password, over: "document.getElementById('password')")
        try await go { try await browser.click(Self.signInPage) }
    }

    static func link(_ text: String) -> String {
        "[...document.querySelectorAll('a')].find(link => link.innerText.trim() === '\(text)')"
    }

    static func form(_ name: String) -> String {
        "(document.getElementById('\(name)') ?? document.querySelector('main form[action$=\"\(name)\"]'))"
    }

    static func button(of form: String) -> String { "\(Self.form(form)).querySelector('button')" }

    private static func field(_ name: String, _ value: String, of form: String) -> String {
        """
        [...\(Self.form(form)).querySelectorAll('[name="\(name)"]')]
            .find(field => field.type !== 'checkbox' || field.value === '\(value)')
        """
    }

    // MARK: - What is shown

    /// The text of the page, with its title.
    var text: String {
        get async throws { try await browser.evaluate("document.title + ' ' + document.body.innerText").string ?? "" }
    }

    var html: String {
        get async throws { try await browser.evaluate("document.documentElement.outerHTML").string ?? "" }
    }

    var heading: String? {
        get async throws { try await browser.evaluate("document.querySelector('h1')?.innerText").string }
    }

    /// The code of the error for which a form was refused.
    var alert: String? {
        get async throws { try await browser.evaluate("document.querySelector('[role=alert]')?.dataset.code").string }
    }

    /// Expects texts on the page, its heading, what it says was done, and an error; `secrets` are not there.
    func expect(
        _ texts: String..., heading: String? = nil, said: String? = nil, alert: String? = nil,
        without secrets: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (shown, html, refused) = (try await text, try await html, try await self.alert)
        for text in texts { #expect(shown.contains(text), sourceLocation: sourceLocation) }
        for secret in secrets { #expect(!html.contains(secret), sourceLocation: sourceLocation) }
        if let heading { #expect(try await self.heading == heading, sourceLocation: sourceLocation) }
        if let said {
            let status = try await browser.evaluate("document.querySelector('[role=status]')?.innerText").string
            #expect(status?.hasPrefix(said) == true, "\(shown)", sourceLocation: sourceLocation)
        }
        #expect(refused == alert, "\(shown)", sourceLocation: sourceLocation)
    }

    /// What a field of a form has.
    func value(of name: String, in form: String) async throws -> String? {
        try await browser.evaluate("\(Self.form(form)).querySelector('[name=\"\(name)\"]')?.value").string
    }

    func has(_ element: String) async throws -> Bool {
        try await browser.evaluate("document.querySelector('\(element)') !== null") == true
    }

    // MARK: - From page to page

    /// Makes a move, and waits until another document is complete and the condition holds there.
    func go(to page: String = ConsoleWalk.console, _ move: () async throws -> Void) async throws {
        let former = try await browser.evaluate("String(performance.timeOrigin)").string ?? ""
        try await move()
        try await browser.wait(until: "String(performance.timeOrigin) !== '\(former)' && (\(page))")
        titles.insert(try await browser.evaluate("document.title").string ?? "")
        let address = try await browser.evaluate("location.href").string ?? ""
        // Going back to the answer to a form, the browser shows a page of its own.
        guard address.hasPrefix(PageBrowser.issuer) else { return }
        let bytes = try await html.utf8.count
        #expect((1...Self.mostBytes).contains(bytes), "\(address)")
    }

    /// Goes back to the first page, and expects to see nothing of an account on the way.
    func expectNothingBehind(_ traces: String...) async throws {
        var seen = 0
        while true {
            let history = try await browser.call("Page.getNavigationHistory")
            let index = Int(history["currentIndex"].integer ?? 0)
            guard index > 1, let entry = history["entries"].array?[index - 1] else { break }
            try await go(to: "true") {
                _ = try await browser.call("Page.navigateToHistoryEntry", ["entryId": entry["id"]])
            }
            let html = try await html
            for trace in traces { #expect(!html.contains(trace), "\(entry["url"]): \(html)") }
            seen += 1
        }
        #expect(seen > 2)
    }

    // MARK: - Discretion

    private func expectDiscretion() async throws {
        let (traffic, ours) = (browser.traffic, PageBrowser.issuer + "/")
        #expect(traffic.blocked == [] && traffic.complaints == [])
        let urls = traffic.requests.filter { $0.page.hasPrefix(ours) }.map(\.url)
        for url in urls { #expect(url.hasPrefix(ours) || url.hasPrefix("data:"), "another host is asked: \(url)") }
        for document in traffic.documents where document.url.hasPrefix(ours) {
            #expect(document.cacheControl == "no-store" && document.status < 500, "\(document)")
        }
        for (host, referer) in traffic.referers where referer.hasPrefix(ours) {
            #expect(ours == "http://\(host)/", "\(host) is told \(referer)")
        }
        #expect(urls.count > 4 && traffic.documents.count > 2)
        for seen in urls + traffic.referers.map(\.referer) + titles {
            let text = (seen.removingPercentEncoding ?? seen).lowercased()
            for address in [person.email, other.email] { #expect(!text.contains(address), "\(text)") }
        }
    }
}
