import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The client for JavaScript in a real browser, on pages of another origin than the server's.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct BrowserClientTests {
    /// Two tabs and 98 frames, which share storage, locks and channels as tabs do.
    @Test func `a thousand calls in a hundred tabs with an expired token refresh once`() async throws {
        try await Self.with { browser, app, server in
            let first = try await Self.signedIn(browser, app)
            let second = try await Self.tab(browser, app)
            let frames = try await Self.tab(browser, app, "/tabs.html?98", until: Self.ready(frames: 98))
            #expect(try await Self.refreshes(server) == 0)
            try await Self.run("later(3600)", in: [first, second], browser)
            try await Self.run("void inAll('later(3600)')", in: [frames], browser)
            let calls = "Promise.all(Array.from({length: 10}, () => app.accessToken()))"
            try await Self.run("void (window.calls = \(calls))", in: [first, second], browser)
            try await Self.run("void (window.calls = inAll(`\(calls)`))", in: [frames], browser)
            var tokens: [JSONValue] = []
            for tab in [first, second, frames] {
                browser.tab = tab
                tokens += try await browser.evaluate("calls.then(tokens => tokens.flat())").array ?? []
            }
            #expect(tokens.count == 1_000 && Set(tokens).count == 1)
            #expect(try await Self.refreshes(server) == 1)
            #expect(try await browser.evaluate("inAll('!!app.session').then(all => all.every(Boolean))") == true)
            // A new tab gets the token from another one, and a sign-out in one is a sign-out in all.
            let new = try await Self.tab(browser, app)
            #expect(try await browser.evaluate("app.user().then(() => app.sessions()).then(all => all.length)") == 1)
            #expect(try await Self.refreshes(server) == 1)
            #expect(try await browser.evaluate("app.signOut().then(() => localStorage.length)") == 0)
            for tab in [first, second, new] {
                browser.tab = tab
                try await browser.wait(until: "seen.at(-1)?.startsWith('signedOut') && !app.session")
            }
            browser.tab = frames
            try await browser.wait(until: "Array.from(frames).every(frame => !frame.app.session)")
            try await Self.expectNoToken(tokens, in: browser)
        }
    }

    @Test func `two tabs refresh a hundred times and keep one session`() async throws {
        try await Self.with { browser, app, server in
            let first = try await Self.signedIn(browser, app)
            let tabs = [first, try await Self.tab(browser, app)]
            for _ in 0..<100 {
                try await Self.run("later(3700)", in: tabs, browser)
                try await Self.run("void (window.call = app.user().then(({id}) => id))", in: tabs, browser)
                for tab in tabs {
                    browser.tab = tab
                    let isSame = try await browser.evaluate("call.then(id => id === app.session.user.id)")
                    try #require(isSame == true)
                }
            }
            #expect(try await browser.evaluate("app.sessions().then(all => all.length)") == 1)
            #expect(try await Self.refreshes(server) <= 100)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE ended_at IS NULL") == 1)
        }
    }

    @Test func `a person signs in on a provider's pages, in this tab and in a popup, and may refuse`() async throws {
        try await Self.with { browser, app, _ in
            let tab = try await Self.tab(browser, app)
            _ = try await browser.evaluate("void app.redirect('corp')")
            try await browser.wait(until: "window.app?.session")
            #expect(try await browser.evaluate("returned") == "ada")
            #expect(try await browser.evaluate("location.search + location.hash + sessionStorage.length") == "0")
            let uid = try await browser.evaluate("app.session.user.id")

            _ = try await browser.evaluate("app.signOut()")
            try await Self.openPopup(in: browser)
            #expect(try await browser.evaluate("popped") == uid)
            #expect(try await browser.evaluate("location.search") == "")

            let refuse = "fetch('/person?is=').then(() => app.signOut()).then(() => true)"
            #expect(try await browser.evaluate(refuse) == true)
            try await Self.openPopup(in: browser)
            #expect(try await browser.evaluate("popped") == "access_denied")
            _ = try await browser.evaluate("window.left = true, void app.redirect('corp')")
            try await browser.wait(until: "!window.left && window.returned && location.search === ''")
            #expect(try await browser.evaluate("returned") == "access_denied")
            #expect(browser.tab == tab)
        }
    }

    @Test func `a sign-in on the server's own pages leaves nothing in the address bar`() async throws {
        try await Self.with(application: "openid: {}") { browser, app, server in
            let ada = try await APIClient(server).register(at: server)
            _ = try await Self.tab(browser, app)
            _ = try await browser.evaluate("void app.redirect('hosted')")
            try await browser.wait(for: "signin")
            try await browser.type(ada.email, into: "identifier")
            try await browser.type(ada.password, into: "password")
            try await browser.press("password")
            try await browser.wait(until: "window.app?.session")
            #expect(try await browser.evaluate("app.session.user.id").string == ada.uid)
            #expect(try await browser.evaluate("location.search") == "")
        }
    }

    @Test func `a sign-in on a provider's pages may be short, and passes on what the page may get`() async throws {
        try await Self.with { browser, app, server in
            _ = try await Self.tab(browser, app)
            let options = "{ remember: false, parameters: { login_hint: 'MSISDN:33612345678' } }"
            _ = try await browser.evaluate("window.left = true, void app.redirect('corp', \(options))")
            try await browser.wait(until: "!window.left && window.app?.session")
            let stored = "localStorage.length + sessionStorage.length"
            let left = "app.session.auth.sessionExpires - Date.now() / 1000"
            #expect(try await browser.evaluate("\(stored) === 0 && \(left) <= 12 * 3600") == true)

            #expect(try await browser.evaluate("app.signOut().then(() => app.session === null)") == true)
            try await Self.openPopup(in: browser, options)
            #expect(try await browser.evaluate("popped.then(id => id === app.session.user.id)") == true)
            #expect(try await browser.evaluate("\(stored) === 0 && \(left) <= 12 * 3600") == true)
            #expect(app.hints == ["MSISDN:33612345678", "MSISDN:33612345678"])
            let requests = browser.traffic.requests.map(\.url).filter { $0.hasPrefix(server.url) }
            #expect(!requests.isEmpty && !requests.contains { $0.contains("33612345678") }, "\(requests)")
        }
    }

    @Test func `a popup of a frame in another site's page signs in`() async throws {
        try await Self.with { browser, app, _ in
            // `localhost` is another site than 127.0.0.1, so that the frame has channels and a storage of its own.
            try await browser.open(app.url.replacing("127.0.0.1", with: "localhost") + "/tabs.html?0")
            try await browser.wait(until: "location.search === '?0'")
            let frame = "Object.assign(document.createElement('iframe'), { src: '\(app.url)/app.html' })"
            _ = try await browser.evaluate("void document.body.append(\(frame))")
            try await browser.enterTab(at: "/app.html")
            try await browser.wait(until: "window.app")
            let popup = """
                void app.popup('corp').then(({ session }) => session.auth.providerUid, ({ code }) => code)
                    .then(outcome => { window.popped = outcome })
                """
            _ = try await browser.call("Runtime.evaluate", ["expression": .string(popup), "userGesture": true])
            try await browser.wait(until: "window.popped")
            #expect(try await browser.evaluate("popped") == "ada")
        }
    }

    @Test func `a popup that is blocked or closed is an error of its own`() async throws {
        try await Self.with { browser, app, _ in
            _ = try await Self.tab(browser, app)
            let blocked = "window.open = () => null, app.popup('corp').catch(error => error.code)"
            #expect(try await browser.evaluate(blocked) == "POPUP_BLOCKED")
            // The person closes it, and is on this page again.
            let closed = """
                (() => {
                    const calls = [];
                    const popup = {
                        closed: true, location: { replace: url => calls.push(url) }, close: () => calls.push('closed'),
                    };
                    window.open = () => popup;
                    document.hasFocus = () => true;
                    return app.popup('corp').catch(error => JSON.stringify([error.code, calls.length, calls[1]]));
                })()
                """
            #expect(try await browser.evaluate(closed) == #"["CANCELLED",2,"closed"]"#)
            #expect(try await browser.evaluate("app.session === null") == true)
        }
    }

    @Test func `a full storage and a lost network keep the session, and the page is told`() async throws {
        try await Self.with { browser, app, server in
            _ = try await Self.tab(browser, app)
            let full = """
                (async () => {
                    const setItem = Storage.prototype.setItem;
                    Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') };
                    const { session } = await app.signIn(Proof.anonymous());
                    later(3600);
                    const { id } = await app.user();
                    const stored = localStorage.length;
                    Storage.prototype.setItem = setItem;
                    later(10);
                    await app.user();
                    return JSON.stringify([id === session.user.id, stored, localStorage.length, ...seen]);
                })()
                """
            #expect(
                try await browser.evaluate(full)
                    == #"[true,0,1,"storageFailed","signedIn","refreshed","stored"]"#)
            // A flow that the tab cannot note begins none, and a page without a flow does not mind.
            let forbidden = """
                (async () => {
                    const code = (promise) => promise.then(value => value, error => error.code);
                    Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no') } });
                    return JSON.stringify([await code(app.redirect('corp')), await code(app.completeRedirect())]);
                })()
                """
            #expect(try await browser.evaluate(forbidden) == #"["STORAGE_ERROR",null]"#)
            let network: JSONValue = ["latency": 0, "downloadThroughput": -1, "uploadThroughput": -1]
            func set(offline: Bool) async throws {
                var conditions = network.object ?? [:]
                conditions["offline"] = .bool(offline)
                _ = try await browser.call("Network.emulateNetworkConditions", .object(conditions))
            }
            try await set(offline: true)
            let lost = "later(3600), app.user().catch(error => error.code + !!app.session + seen.at(-1))"
            #expect(try await browser.evaluate(lost) == "NETWORK_ERRORtruerefreshFailed")
            // It is tried again as soon as the browser is online.
            try await set(offline: false)
            try await browser.wait(until: "seen.at(-1) === 'refreshed'")
            // A tab that is opened later finds the session.
            _ = try await Self.tab(browser, app)
            #expect(try await browser.evaluate("app.resume().then(session => !!session)") == true)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE ended_at IS NULL") == 1)
        }
    }
}

// MARK: - Tabs

extension BrowserClientTests {
    static func with(
        application: String = "",
        _ body: @Sendable @escaping (Chromium, ClientApp, TestServer) async throws -> Void
    ) async throws {
        try await ClientApp.with(application: application) { app, server in
            try await Chromium.with(server) { try await body($0, app, server) }
        }
    }

    /// Opens a page of the app in a new tab, and returns the tab.
    static func tab(
        _ browser: Chromium, _ app: ClientApp, _ path: String = "/app.html", until condition: String = "window.app"
    ) async throws -> String? {
        try await browser.openTab()
        try await browser.open(app.url + path)
        try await browser.wait(until: condition)
        return browser.tab
    }

    /// Opens a tab in which a guest is signed in.
    private static func signedIn(_ browser: Chromium, _ app: ClientApp) async throws -> String? {
        let tab = try await tab(browser, app)
        #expect(try await browser.evaluate("app.signIn(Proof.anonymous()).then(all => all.isNewAccount)") == true)
        return tab
    }

    private static func ready(frames count: Int) -> String {
        "frames.length === \(count) && Array.from(frames).every(frame => frame.app)"
    }

    /// Evaluates an expression in each of the tabs.
    private static func run(_ expression: String, in tabs: [String?], _ browser: Chromium) async throws {
        for tab in tabs {
            browser.tab = tab
            _ = try await browser.evaluate(expression)
        }
    }

    /// Clicks a button that opens the popup, and leaves the outcome in `popped`.
    private static func openPopup(in browser: Chromium, _ options: String = "{}") async throws {
        _ = try await browser.evaluate(
            """
            (() => {
                const button = document.body.appendChild(document.createElement('button'));
                button.textContent = 'Sign in';
                button.id = 'popup';
                window.popped = undefined;
                button.onclick = () => {
                    button.remove();
                    window.popped = app.popup('corp', \(options)).then(({ session }) => session.user.id, ({ code }) => code);
                };
            })()
            """)
        try await browser.click("document.getElementById('popup')")
        try await browser.wait(until: "window.popped")
    }

    /// The number of refreshes that the server has answered.
    private static func refreshes(_ server: TestServer) async throws -> Int {
        let page = try await APIClient(server).send(.GET, "/metrics").text
        return page.matches(of: /_count\{method="POST",route="\/api\/v1\/auth\/refresh",status="[0-9]+"\} ([0-9]+)/)
            .reduce(0) { $0 + (Int($1.output.1) ?? 0) }
    }

    /// No URL that the browser has requested, and nothing that it complains about, contains one of the tokens.
    private static func expectNoToken(_ tokens: [JSONValue], in browser: Chromium) async throws {
        let traffic = browser.traffic
        for token in Set(tokens.compactMap(\.string)) {
            #expect(!traffic.requests.contains { $0.url.contains(token) })
            #expect(!(traffic.blocked + traffic.complaints).contains { $0.contains(token) })
        }
    }
}
