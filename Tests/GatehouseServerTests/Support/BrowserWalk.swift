import Accounts
import Delivery
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// A person who uses the pages in a real browser without scripts, by clicks and keys alone.
///
/// On the way it is checked that the browser blocks nothing and asks no other host, that each page is small and is not
/// stored, and that no title, URL or `Referer` holds anything secret: values of cookies and of hidden fields, ids of the
/// database, or addresses.
final class BrowserWalk {
    static let mostBytes = 24 * 1024
    /// Shorter values of fields, such as names of providers, may be in a URL.
    private static let shortestSecret = 16

    let browser: Chromium
    let server: TestServer
    private var titles: Set<String> = []
    private var secrets: Set<String>
    /// The number of codes to each address so far.
    private var codes: [String: Int]

    private init(_ browser: Chromium, _ server: TestServer, addresses: [String]) {
        (self.browser, self.server, secrets) = (browser, server, Set(addresses))
        codes = addresses.reduce(into: [:]) { $0[$1] = server.sentCodes(to: $1).count }
    }

    /// Runs the body in a new browser, and checks afterwards what it has seen; `addresses` are those of its person.
    static func with(
        _ server: TestServer, _ addresses: String..., body: (BrowserWalk) async throws -> Void
    ) async throws {
        try await Chromium.with(server) { browser in
            try await browser.disableScripts()
            let walk = BrowserWalk(browser, server, addresses: addresses)
            try await body(walk)
            try await walk.expectDiscretion()
        }
    }

    // MARK: - Clicks and keys

    /// Opens a path by hand.
    func open(_ path: String, at step: String) async throws {
        try await go(to: step) { try await browser.open(PageBrowser.issuer + path) }
    }

    /// Clicks the link that leads to the path.
    func follow(_ path: String, to step: String) async throws {
        try await go(to: step) {
            try await browser.click("document.querySelector('a[href$=\"\(path)\"]')")
        }
    }

    /// Fills in fields by their names, and clicks the button; `text` chooses among the buttons of several entries.
    func press(
        _ action: String, _ fields: KeyValuePairs<String, String> = [:], beside text: String = "", to step: String
    ) async throws {
        try await fill(fields)
        try await go(to: step) { try await browser.click(Self.button(action, beside: text)) }
    }

    /// The same with two clicks before the browser does anything else.
    func pressTwice(
        _ action: String, _ fields: KeyValuePairs<String, String> = [:], beside text: String = "", to step: String
    ) async throws {
        try await fill(fields)
        let clicks = "(button => { button.click(); button.click() })(\(Self.button(action, beside: text)))"
        try await go(to: step) { _ = try await browser.evaluate(clicks) }
    }

    private func fill(_ fields: KeyValuePairs<String, String>) async throws {
        for (name, value) in fields { try await browser.type(value, over: "document.querySelector('[name=\(name)]')") }
    }

    private static func button(_ action: String, beside text: String = "") -> String {
        """
        [...document.querySelectorAll('button[value="\(action)"]')]
            .find(button => (button.closest('li') ?? button.form).innerText.includes('\(text)'))
        """
    }

    /// Goes to the provider's page by its link, signs in there as one of its people, and comes back.
    func signIn(at provider: String, as person: String, to step: String) async throws {
        try await browser.click("document.getElementById('with-\(provider)')")
        try await browser.wait(until: "document.querySelector('button[value=\(person)]')")
        try await go(to: step) { try await browser.click("document.querySelector('button[value=\(person)]')") }
    }

    /// Reads the next code that is sent to an address.
    func code(to address: String) async throws -> String {
        let known = codes[address, default: 0]
        try await eventually("a code is sent to \(address)") { server.sentCodes(to: address).count > known }
        let sent = server.sentCodes(to: address)
        codes[address] = sent.count
        return try #require(sent.first)
    }

    func signIn(_ person: Person, to step: String = "account") async throws {
        try await open("/signin", at: "signin")
        try await press("password", ["identifier": person.email, "password": person.password], to: step)
    }

    func signOut() async throws {
        try await follow("/oauth/logout", to: "signout")
        try await press("signout", to: "signed-out")
    }

    // MARK: - What is shown

    /// The text of the page, with its title.
    var text: String {
        get async throws { try await browser.evaluate("document.title + ' ' + document.body.innerText").string ?? "" }
    }

    var problem: String? {
        get async throws { try await browser.evaluate("document.getElementById('problem')?.dataset.code").string }
    }

    /// Makes a move, and waits until another document shows the step.
    func go(to step: String, _ move: () async throws -> Void) async throws {
        try await change(until: "document.querySelector('main')?.dataset.step === '\(step)'", move)
        try await notePage()
    }

    /// Makes a move, and waits until another document is complete and the condition holds there.
    func change(until condition: String = "true", _ move: () async throws -> Void) async throws {
        let former = try await browser.evaluate("String(performance.timeOrigin)").string ?? ""
        try await move()
        try await browser.wait(until: "String(performance.timeOrigin) !== '\(former)' && (\(condition))")
    }

    private func notePage() async throws {
        let page = try await browser.evaluate(
            """
            ({title: document.title, html: document.documentElement.outerHTML,
              hidden: [...document.querySelectorAll('input[type=hidden]')].map(field => field.value)})
            """)
        titles.insert(page["title"].string ?? "")
        #expect((1...Self.mostBytes).contains(page["html"].string?.utf8.count ?? 0), "\(titles)")
        let cookies = try await browser.call("Network.getCookies")["cookies"].array ?? []
        for value in (page["hidden"].array ?? []) + cookies.map({ $0["value"] }) {
            if let value = value.string, value.count >= Self.shortestSecret { secrets.insert(value) }
        }
    }

    // MARK: - Going back

    /// Presses the back button, and returns the step that is shown, or what the browser shows instead.
    func back() async throws -> String {
        let history = try await browser.call("Page.getNavigationHistory")
        let entry = try #require(history["entries"].array?[Int(history["currentIndex"].integer ?? 0) - 1])
        try await change { _ = try await browser.call("Page.navigateToHistoryEntry", ["entryId": entry["id"]]) }
        return try await browser.evaluate("document.querySelector('main')?.dataset.step ?? location.href").string ?? ""
    }

    /// Goes back to the first page, and expects to see nothing of the accounts that were signed in.
    func expectNothingBehind(_ traces: String...) async throws {
        while try await browser.call("Page.getNavigationHistory")["currentIndex"].integer ?? 0 > 1 {
            let step = try await back()
            #expect(!step.hasPrefix("account"))
            let html = try await browser.evaluate("document.documentElement.outerHTML").string ?? ""
            for trace in traces { #expect(!html.contains(trace), "\(step): \(html)") }
        }
    }

    // MARK: - Discretion

    private static let identifiers: StaticString = """
        SELECT string_agg(id, ' ') FROM (
        SELECT uid::text AS id FROM accounts UNION SELECT id::text FROM identities UNION SELECT id::text FROM sessions
        UNION SELECT challenge_id::text FROM proofs WHERE challenge_id IS NOT NULL) AS ids
        """

    private func expectDiscretion() async throws {
        let (traffic, ours) = (browser.traffic, PageBrowser.issuer + "/")
        #expect(traffic.blocked == [] && traffic.complaints == [])
        let urls = traffic.requests.filter { $0.page.hasPrefix(ours) }.map(\.url)
        for url in urls { #expect(url.hasPrefix(ours) || url.hasPrefix("data:"), "another host is asked") }
        for document in traffic.documents where document.url.hasPrefix(ours) {
            #expect(document.cacheControl == "no-store" && document.status < 500, "\(document)")
        }
        let referers = traffic.referers.filter { $0.referer.hasPrefix(ours) }
        for (host, referer) in referers {
            #expect(ours == "http://\(host)/", "\(host) is told \(referer)")
        }
        secrets.formUnion(try await server.text(Self.identifiers)?.split(separator: " ").map(String.init) ?? [])
        let seen = urls + referers.map(\.referer) + titles
        #expect(!referers.isEmpty && seen.count > 10 && secrets.count > 4)
        for text in seen.map({ ($0.removingPercentEncoding ?? $0).lowercased() }) {
            for secret in secrets { #expect(!text.contains(secret.lowercased()), "\(text) holds \(secret)") }
        }
    }
}

extension TestServer {
    /// The codes that were sent to an address, the newest first.
    fileprivate func sentCodes(to address: String) -> [String] {
        inbox.messages().filter { $0.to == address }
            .compactMap { $0.text.firstMatch(of: /(?:^|[^0-9])([0-9]{6})(?:[^0-9]|$)/).map { String($0.output.1) } }
    }
}

extension Chromium {
    /// Clicks an element, given by an expression, with the mouse.
    func click(_ element: String) async throws {
        let place = try await evaluate(
            """
            (element => {
                element.scrollIntoView({block: 'center', behavior: 'instant'});
                const box = element.getClientRects()[0];
                const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
                return element.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
            })(\(element))
            """
        ).array
        let point = try #require(place, "\(element) cannot be clicked")
        for type in ["mousePressed", "mouseReleased"] {
            _ = try await call(
                "Input.dispatchMouseEvent",
                ["type": .string(type), "x": point[0], "y": point[1], "button": "left", "clickCount": 1])
        }
    }

    /// Types over the text of a field, given by an expression.
    func type(_ text: String, over field: String) async throws {
        _ = try await evaluate("(field => { field.focus(); field.select() })(\(field))")
        _ = try await call("Input.insertText", ["text": .string(text)])
    }
}
