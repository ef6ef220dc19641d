import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The examples of documentation in a real browser: those of the Webcom library as they are printed there, and those of
/// `docs/clients/javascript.md`.
///
/// `Tests/JavaScript/webcom` has them with the placeholders `<your-app>`, `macadamia@webcom.com` and `my-password`.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct ClientExampleTests {
    @Test func `every example of the documentation does what it says`() async throws {
        try await BrowserClientTests.with { browser, app, server in
            let api = APIClient(server)
            let (ada, grace) = (try await api.register(at: server), try await api.register(at: server))
            _ = try await BrowserClientTests.tab(browser, app, "/webcom.html", until: "window.Webcom")
            let page = Page(browser: browser)

            try await page.run("callback")
            try await page.run("resume")
            try await page.expect(heard: .null)
            try await page.run("login", as: (ada.email, "wrong"))
            try await page.expect(printed: "The email or password is incorrect.")
            try await page.expect(heard: "INVALID_CREDENTIALS")
            try await page.run("remove-account")
            try await page.expect(printed: "Failed deleting the user account!")

            try await page.run("login", as: (ada.email, ada.password))
            try await page.expect(printed: "Authentication succeeded")
            try await page.expect(heard: .string(ada.uid))
            let auth = try await browser.evaluate("JSON.parse(JSON.stringify(printed.at(-1)[1]))")
            #expect(auth["uid"].string == ada.uid && auth["provider"] == "email")
            #expect(auth["providerUid"].string == ada.email && auth["webcomAuthToken"].string != nil)
            #expect(auth["expires"].integer != nil && auth["createdAt"].integer != nil)
            // A console prints it without the token, which it would have to read first.
            let token = "Object.getOwnPropertyDescriptor(printed.at(-1)[1], 'webcomAuthToken').value"
            #expect(try await browser.evaluate("\(token) === undefined") == true)

            try await page.run("logout")
            try await page.expect(printed: "Logged out successfully!")
            try await page.expect(heard: .null)

            // A stored session is resumed on the next page; the last identity takes the account with it.
            try await page.run("login", as: (ada.email, ada.password))
            try await page.expect(heard: .string(ada.uid))
            try await browser.open(app.url + "/webcom.html?again")
            try await browser.wait(until: "window.Webcom && location.search && printed.length === 0")
            try await page.run("resume")
            try await page.expect(heard: .string(ada.uid))
            try await page.run("remove-identity")
            try await page.expect(printed: "Identity deleted!")
            try await page.expect(heard: .null)
            let deleted = try await api.post(
                "/auth/login", ["email": .string(ada.email), "password": .string(ada.password)])
            expectError(deleted, 403, "ACCOUNT_DELETED")

            try await page.run("login", as: (grace.email, grace.password))
            try await page.expect(heard: .string(grace.uid))
            try await server.letPass(.seconds(3600))
            // The token of the sign-in is still recent by its own words, until it is renewed.
            try await browser.open(app.url + "/webcom.html?old")
            try await browser.wait(until: "window.Webcom && location.search === '?old' && printed.length === 0")
            for (example, kind) in [("remove-account", "account"), ("remove-identity", "identity")] {
                try await page.run(example)
                try await page.expect(
                    printed: "The user must re-authenticate before deleting her/his \(kind)")
            }
            try await page.run("login", as: (grace.email, grace.password))
            try await page.expect(printed: "Authentication succeeded")
            try await page.run("remove-account")
            try await page.expect(printed: "Account deleted!")
            expectError(
                try await api.post(
                    "/auth/login", ["email": .string(grace.email), "password": .string(grace.password)]),
                403, "ACCOUNT_DELETED")
        }
    }

    @Test func `a provider's popup signs in, links, and signs in again when the session is too old`() async throws {
        try await BrowserClientTests.with { browser, app, server in
            let uri = app.url + "/app.html"
            func visit(_ person: String) async throws -> JSONValue {
                _ = try await browser.evaluate("fetch('/person?is=\(person)').then(() => true)")
                let button = """
                    (() => {
                        window.ref ??= new Webcom('demo');
                        ref.registerAuthCallback(myAuthCb);
                        const button = document.body.appendChild(document.createElement('button'));
                        button.textContent = button.id = 'popup';
                        window.popped = undefined;
                        button.onclick = () => {
                            button.remove();
                            window.popped = new Promise(resolve => ref.authWithOAuth(
                                { provider: 'corp', redirectUri: '\(uri)' },
                                (error, auth) => resolve(error ? error.code : auth.uid)));
                        };
                    })()
                    """
                _ = try await browser.evaluate(button)
                try await browser.click("document.getElementById('popup')")
                try await browser.wait(until: "window.popped")
                return try await browser.evaluate("popped")
            }
            _ = try await BrowserClientTests.tab(browser, app, "/webcom.html", until: "window.Webcom")
            let ada = try await visit("ada")
            #expect(ada.string?.count == 36, "\(ada)")
            #expect(try await visit("grace") == ada, "the session links")
            try await browser.wait(until: "heard.length === 2")
            #expect(try await browser.evaluate("heard.every(uid => uid === heard[0])") == true)
            let removal = "ref.token().then(() => ref.removeAccount()).then(() => 'deleted', error => error.code)"
            func removesTooLate(on page: String) async throws -> Bool {
                try await server.letPass(.seconds(3600))
                try await browser.open(app.url + "/webcom.html?\(page)")
                try await browser.wait(until: "window.Webcom && location.search === '?\(page)'")
                _ = try await browser.evaluate("window.ref = new Webcom('demo'), true")
                return try await browser.evaluate(removal) == "TOKEN_TOO_OLD"
            }
            func proofs() -> Int {
                browser.traffic.requests.count { $0.url.hasSuffix("/auth/reauthenticate") }
            }
            #expect(try await removesTooLate(on: "old"))
            #expect(proofs() == 0)
            // At an OAuth 2.0 service, the begin of the visit counts as the time of the sign-in there.
            #expect(try await visit("grace") == ada)
            #expect(proofs() > 0)

            #expect(try await removesTooLate(on: "older"))
            // The server's answer for a provider that has to state the time and does not: only a sign-in remains.
            let timeless = """
                (() => {
                    const send = window.fetch;
                    const refusal = JSON.stringify({ error: { code: 'INVALID_TOKEN', message: 'No time' } });
                    const init = { status: 401, headers: { 'Content-Type': 'application/json' } };
                    window.fetch = async (url, call) => String(url).endsWith('/auth/reauthenticate')
                        ? new Response(refusal, init) : send(url, call);
                })()
                """
            _ = try await browser.evaluate(timeless)
            #expect(try await visit("grace") == "INVALID_TOKEN")
            #expect(try await visit("grace") == ada)
            #expect(try await browser.evaluate(removal) == "deleted")
            try await browser.wait(until: "heard.at(-1) === null")
        }
    }

    @Test func `the examples of the client's own page run`() async throws {
        try await BrowserClientTests.with { browser, app, server in
            // The account that an example merges into.
            _ = try await APIClient(server).register(at: server, email: "grace@example.com")
            _ = try await BrowserClientTests.tab(browser, app, "/documented.html", until: "window.outcome")
            #expect(try await browser.evaluate("outcome") == "done")
        }
    }

    private struct Page {
        let browser: Chromium

        /// Runs an example with the placeholders filled in, as a script of the page.
        func run(_ example: String, as credentials: (email: String, password: String) = ("", "")) async throws {
            let path = ClientApp.files.appending(path: "webcom/\(example).js")
            let script = try String(contentsOf: path, encoding: .utf8).replacing("<your-app>", with: "demo")
                .replacing("macadamia@webcom.com", with: credentials.email)
                .replacing("\"my-password\"", with: "\"\(credentials.password)\"")
            _ = try await browser.evaluate(script + "\n;undefined")
        }

        /// Waits until the examples have printed a text.
        func expect(printed text: String) async throws {
            try await browser.wait(until: "printed.at(-1)?.[0] === \(quoted(.string(text)))")
        }

        /// Waits until the registered callback has heard a code, a `uid`, or `null` for a sign-out.
        func expect(heard value: JSONValue) async throws {
            try await browser.wait(until: "heard.length && heard.at(-1) === \(quoted(value))")
        }

        private func quoted(_ value: JSONValue) throws -> String {
            String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        }
    }
}
