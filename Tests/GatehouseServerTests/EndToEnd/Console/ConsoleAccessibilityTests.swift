import Accounts
import Administration
import Foundation
import HTTPTypes
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer
@testable import HTTPAPI

/// Every page of the console in a real browser: axe-core finds nothing, no page scrolls sideways, and keys suffice.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct ConsoleAccessibilityTests {
    private static let base = "/console/demo"

    /// The paths of the pages that a GET shows.
    private static func pages(of server: TestServer) -> [String] {
        let redirects: Set = ["/console", "/console/callback", "/console/sign-in"]
        return server.server.api.endpoints.filter { $0.takes.isOfConsole && $0.method == .get }.map(\.path).filter {
            path in
            !redirects.contains(path) && !path.contains("/assets/")
                && !ConsolePlaces.downloads.contains { path.hasSuffix($0) }
        }.sorted()
    }

    // MARK: - Every page

    @Test func `pages about what is not there yet are accessible`() async throws {
        try await TestServer.withConsole(providers: "") { server in
            try await ConsoleWalk.with(server) { walk in
                let inspection = try await ConsoleInspection(walk)
                let lists = Self.pages(of: server).filter { path in
                    !path.replacing("{app}", with: "").contains("{")
                        && ConsolePlaces.all.contains { path.hasSuffix("{app}" + $0.path) }
                }
                #expect(lists.count > 15)
                for path in lists {
                    try await walk.open(path.replacing("{app}", with: "demo"))
                    try await inspection.inspect("empty \(path)")
                }
            }
        }
    }

    @Test func `every page is accessible, in light and dark, and at 320 pixels`() async throws {
        try await Self.withRows { walk, values in
            let inspection = try await ConsoleInspection(walk)
            let pages = Self.pages(of: walk.server)
            #expect(pages.count > 40)
            for path in pages {
                let parts = path.replacing("/messages/{id}", with: "/messages/{message}").split(separator: "/")
                let place = parts.map { part in
                    part.hasPrefix("{") ? values[String(part.dropFirst().dropLast())] ?? "unknown" : String(part)
                }
                try await walk.open("/" + place.joined(separator: "/"))
                try await inspection.inspect(path)
            }
        }
    }

    @Test func `answers to forms are accessible, too`() async throws {
        try await Self.withRows { walk, values in
            let inspection = try await ConsoleInspection(walk)
            for form in Self.forms(for: walk.other, and: walk.person, values) {
                try await walk.open(Self.base + form.page)
                try await walk.press(form.id, form.fields)
                try await inspection.inspect(form.name)
            }
            try await walk.open(Self.base + "/providers/scripted/try")
            try await walk.press("try")
            try await inspection.inspect("trial begun")
            try await walk.comeBackFromTrial()
            try await walk.expect("Verdict", heading: "Try Scripted")
            try await inspection.inspect("trial result")

            let link = try await walk.server.adminLink(.support, on: "demo")
            try await walk.open(String(link.dropFirst(PageBrowser.issuer.count)))
            try await inspection.inspect("invited")
            try await walk.press("claim")
            try await inspection.inspect("offer")
            try await walk.open("/console/nowhere")
            try await inspection.inspect("no application")
            try await walk.open(Self.base)
            try await walk.press("sign-out")
            try await inspection.inspect("signed out")
        }
    }

    /// A form, by its name in reports, its page, its id, and what is typed into it.
    private typealias FilledForm = (name: String, page: String, id: String, fields: KeyValuePairs<String, String>)

    private static func forms(for other: Person, and person: Person, _ values: [String: String]) -> [FilledForm] {
        let account = "/accounts/\(other.uid)"
        let reveal: KeyValuePairs = [
            "fields": "email", "fields": "metadata", "fields": "identities", "fields": "sessions",
            "reason.code": "support",
        ]
        let (wrong, right) = ("nowhere", "https://127.0.0.1:1")
        func provider(at issuer: String) -> KeyValuePairs<String, String> {
            [
                "name": "corp", "settings.issuer": issuer, "settings.clientID": "client",
                "settings.clientSecret": "hush-hush-hush",
            ]
        }
        return [
            ("found", "/accounts", "search", ["q": other.email]),
            ("not found", "/accounts", "search", ["q": "nobody@example.com"]),
            ("search refused", "/accounts", "search", ["q": "a@"]),
            ("revealed", account + "/reveal", "accounts-reveal", reveal),
            ("merge forecast", account + "/merge", "accounts-forecastMerge", ["other": person.uid]),
            ("act refused", account + "/erase", "accounts-erase", ["reason.code": "legal", "confirm": "erase"]),
            ("note said", account, "notes-add", ["text": "A note", "reason.code": "support"]),
            ("plan", "/providers/scripted", "providers-plan", ["mode": "off"]),
            ("diagnosis", "/providers/email", "providers-diagnose", [:]),
            ("settings refused", "/providers/check?kind=oidc", "new-provider", provider(at: wrong)),
            ("settings checked", "/providers/check?kind=oidc", "new-provider", provider(at: right)),
            ("explanation", "/explain", "explain", ["provider": "scripted"]),
            ("evidence refused", "/explain", "explain", ["provider": "scripted", "evidence": "{"]),
            ("locks", "/limits", "limits-search", ["email": other.email]),
            ("retirement", "/keys/\(values["kid"] ?? "")/retire", "keys-retire", ["dryRun": "true"]),
            (
                "secret", "/service-keys", "serviceKeys-make",
                ["name": "crm", "scopes": "server:read", "expiresIn": "86400", "reason.code": "operations"]
            ),
        ]
    }

    // MARK: - Keys of the keyboard

    @Test func `an account is found and disabled by keys alone`() async throws {
        try await TestServer.withConsole { server in
            try await ConsoleWalk.with(server) { walk in
                let (browser, form) = (walk.browser, "accounts-disable")
                try await walk.open(Self.base + "/accounts")
                try await browser.press(.tab)
                let skip = "document.activeElement.matches('.skip') && document.activeElement.offsetLeft >= 0"
                #expect(try await browser.evaluate(skip) == true, "the first stop is seen")
                try await browser.press(.enter)
                try await browser.wait(until: "document.activeElement.id === 'main'")

                try await browser.tab(to: "document.getElementById('search-q')")
                try await browser.typeKeys(walk.other.email)
                try await walk.go { try await browser.press(.enter) }
                try await browser.tab(to: "document.querySelector('td a[href$=\"\(walk.other.uid)\"]')")
                try await walk.go { try await browser.press(.enter) }
                try await browser.tab(to: ConsoleWalk.link("Disable the account"))
                try await walk.go { try await browser.press(.enter) }
                try await browser.tab(to: "document.querySelector('[name=\"reason.code\"]')")
                try await browser.typeKeys("F")
                try await browser.tab(to: "document.querySelector('[name=\"reason.ticket\"]')")
                try await browser.typeKeys("T-7")
                #expect(try await walk.value(of: "reason.code", in: form) == "fraud")
                try await browser.tab(to: ConsoleWalk.button(of: form))
                try await walk.go { try await browser.press(.enter) }
                try await walk.expect(said: "The account is disabled")
            }
        }
    }
}

// MARK: - Rows

extension ConsoleAccessibilityTests {
    /// Runs the body against a server that has rows for every list and figures for every plot.
    ///
    /// The values are those of the parameters of paths.
    private static func withRows(
        _ body: @Sendable @escaping (ConsoleWalk, _ values: [String: String]) async throws -> Void
    ) async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { sink in
            let hooks = "[\(sink.entry("account.created", "account.deleted"))]"
            try await TestServer.withConsole(webhooks: hooks) { server in
                try await ConsoleWalk.with(server) { walk in
                    try await body(walk, rows(for: walk.other, at: server))
                }
            }
        }
    }

    private static func rows(for person: Person, at server: TestServer) async throws -> [String: String] {
        let (api, client) = (APIClient(server), try await AdminClient(server))
        _ = try await api.newcomer("eve", email: APIClient.newAddress())
        let ticket = try await api.ticket(.somebody("eve"), bearer: person.accessToken)
        try #require(try await api.merge(ticket, bearer: person.accessToken).status == 200)
        _ = try await api.deleteAccount(api.register(at: server))
        _ = try await api.newcomer()
        // More than a page of a list shows.
        _ = try await atOnce(60) { try await api.guest() }
        let noted = try await client.act("/notes", on: person.uid, ["text": "Called <us> & wrote"])
        try #require(noted.status < 300, "\(noted.text)")
        let plan = try await api.plan("phone", "off", client.key)
        try #require(try await api.switchProvider("phone", plan, client.key).status == 200)
        for _ in 1...10 { _ = try await api.login(person.email, "a wrong one") }
        try await server.execute(
            """
            UPDATE accounts SET display_name = 'Ada Lovelace', metadata = '{"plan": "pro"}', roles = '{editor}',
                   claims = '{"plan": "pro"}'
             WHERE uid = $1
            """, [.uuid(UUID(uuidString: person.uid))])
        try await server.execute(
            """
            INSERT INTO statistics (application_id, name, step, at, label, count)
            SELECT id, name_of, 'hour', date_bin('1 hour', now() - hour * interval '1 hour', 'epoch'), label,
                   100 * (1 + hour % 7) * (1 + length(label))
              FROM applications, generate_series(1, 23) AS hour,
                   (VALUES ('signIns', 'scripted'), ('signIns', 'email'), ('signIns', 'phone'), ('signIns', 'google'),
                           ('signIns', 'apple'), ('signIns', 'corp'), ('refusals', 'provider.off'),
                           ('refusals', 'address.unproven'), ('hashing', '')) AS counted (name_of, label)
             WHERE applications.name = 'demo'
            ON CONFLICT DO NOTHING
            """)

        var values = [
            "app": "demo", "uid": person.uid, "name": "scripted", "key": try await server.text(Self.serviceKey) ?? "",
            "id": try await api.identityID(of: "email", bearer: person.accessToken),
        ]
        for (parameter, list, member) in [
            ("webhook", "/webhooks", "id"), ("event", "/deliveries", "event"), ("message", "/messages", "id"),
            ("receipt", "/erasures", "receipt"), ("kid", "/keys", "kid"),
        ] {
            try await eventually("\(list) has an item") {
                let items = try await api.get("/admin\(list)", bearer: client.key)["items"].array
                values[parameter] = items?.first?[member].string
                return values[parameter] != nil
            }
        }
        return values
    }

    private static let serviceKey: StaticString = "SELECT id::text FROM service_keys"
}

extension ConsoleWalk {
    /// Comes back from the provider, as its page would send the browser.
    fileprivate func comeBackFromTrial() async throws {
        let link = try #require(try await browser.evaluate("document.getElementById('leave')?.href").string)
        let url = try #require(URLComponents(string: link))
        let callback = try #require(url.query("callback"))
        let proof = try VerifiedIdentity.somebody().proof
        let returned = callback.addingQuery(["state": url.query("state"), "code": proof])
        try await go { try await browser.open(returned) }
    }
}
