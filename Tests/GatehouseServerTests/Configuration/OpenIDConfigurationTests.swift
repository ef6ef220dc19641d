import GatehouseServer
import Testing

/// What is refused at start of an OpenID provider's settings, because tokens would mean two things.
struct OpenIDConfigurationTests {
    private static let web = "web: { name: Web, public: true, redirectURIs: [\"https://a.example/cb\"]"

    @Test(arguments: [
        (
            "clients: { demo: { name: A, secret: \"\(String(repeating: "s", count: 32))\", grants: [] } }",
            "openid.clients.demo: a client has the audience of an application as its id"
        ),
        (
            "clients: { other: { name: A, secret: \"\(String(repeating: "s", count: 32))\", grants: [] } }",
            "openid.clients.other: a client has the audience of an application as its id"
        ),
        (
            "resources: { \"https://id.example/apps/other\": {} }",
            "openid.resources.\"https://id.example/apps/other\": a resource is not the URL or the audience of an application"
        ),
        (
            "resources: { \"https://id.example\": {} }",
            "openid.resources.\"https://id.example\": a resource is not the URL or the audience of an application"
        ),
        (
            "resources: { \"https://audience.example\": {} }",
            "openid.resources.\"https://audience.example\": a resource is not the URL or the audience of an application"
        ),
        (
            "resources: { \"https://a.example\": { scopes: { read: { en: See } } } }",
            "openid.resources.\"https://a.example\".scopes.read: expected one text, or a text in each of en, de, fr, es"
        ),
        (
            "resources: { \"https://a.example\": { scopes: { qr: A } } }",
            "openid.resources.\"https://a.example\".scopes.qr: a scope is 1 to 128 visible characters, and none that the server defines"
        ),
        (
            "resources: { \"https://a.example\": { scopes: { blitz_qr_auth: A } } }",
            "openid.resources.\"https://a.example\".scopes.blitz_qr_auth: a scope is 1 to 128 visible characters, and none that the server defines"
        ),
        (
            "clients: { \(web), jwks: \"{}\" } }",
            #"openid.clients.web.jwks: the keys are neither a JWK Set (no "keys") nor a JWK (no "kty")"#
        ),
        (
            "clients: { \(web), introspects: [\"https://a.exmaple\"] } }, resources: { \"https://a.example\": {} }",
            "openid.clients.web.introspects[0]: is neither a resource nor the application's audience"
        ),
        (
            "clients: { \(web), introspects: [\"https://id.example\"] } }",
            "openid.clients.web.introspects[0]: is neither a resource nor the application's audience"
        ),
        (
            "clients: { \(web), resources: [\"https://a.example\"], scopes: [openid, write] } }, resources: { \"https://a.example\": { scopes: { read: See } } }",
            "openid.clients: web names the scope write, which does not exist"
        ),
        (
            "clients: { \(web), resources: [\"https://a.example\", \"https://b.example\"] } }, "
                + "resources: { \"https://a.example\": { scopes: { read: A } }, \"https://b.example\": { scopes: { read: B } } }",
            "openid.clients: web has two resources with the scope read"
        ),
        (
            "clients: { \(web), scopes: [openid, qr], firstParty: true } }, qr: { enabled: false }",
            "openid.qr: is off, but a client has the scope qr"
        ),
        (
            "clients: { \(web), scopes: [blitz_qr_auth] } }",
            "openid.clients.web.scopes: blitz_qr_auth is for clients with `firstParty: true`"
        ),
        ("qr: { number: never }", "openid.qr.number: expected one of app, always"),
        (
            "qr: { lifetime: 0s }",
            "openid.qr.lifetime: expected a duration from 1s to 10m (whole seconds, or 90s, 5m, 2h, 30d)"
        ),
        (
            "qr: { appLinks: { symbian: \"https://a.example\" } }",
            "openid.qr.appLinks.symbian: unknown key, expected one of ios, android"
        ),
        ("qr: { url: app }", "openid.qr.url: expected an absolute http or https URL without user or fragment"),
        ("paths: [keycloak]", "openid.paths[0]: expected blitz"),
        ("paths: [plain]", "openid.paths[0]: expected blitz"),
        (
            "paths: [blitz], resources: { \"https://id.example/blitz\": {} }",
            "openid.resources.\"https://id.example/blitz\": a resource is not the URL or the audience of an application"
        ),
    ])
    func `a provider that is refused`(settings: String, problem: String) {
        #expect(problems("openid: { \(settings) }") == ["gatehouse.yaml:7: applications.demo.\(problem)"])
    }

    @Test func `a file of places that cannot be read is refused with the reason`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        try directory.write("no such file", to: "places.mmdb")
        for (path, reason) in [
            ("/nowhere/places.mmdb", "the file that it names can't be read: No such file or directory"),
            ("\(directory.path)/places.mmdb", "The MaxMind DB file contains invalid metadata"),
        ] {
            let problems = Fixture.problems(Fixture.top("network: { geoIP: \"\(path)\" }"))
            #expect(problems == ["gatehouse.yaml:4: network.geoIP: \(reason)"])
        }
    }

    @Test func `a URL has no path, and belongs to one application`() {
        #expect(
            problems("publicURL: \"https://demo.example/below\"\n    hosts: [demo.example]") == [
                "gatehouse.yaml:7: applications.demo.publicURL: has a path, below which nothing is served"
            ])
        #expect(
            problems("publicURL: \"https://id.example\"\n    hosts: [id.example]", default: "other") == [
                "gatehouse.yaml:9: applications.other.publicURL: the application demo has the same URL"
            ])
    }

    @Test func `the paths of Blitz are a warning where the cookie of its apps does not come along`() throws {
        let paths = "openid: { paths: [blitz] }, providers: { scripted: {} }"
        func warnings(_ applications: String) throws -> [String] {
            try Fixture.warnings(
                Fixture.required + """
                    server: { publicURL: "https://id.example" }
                    defaultApplication: demo
                    applications:
                      demo: { \(paths) }
                    \(applications)
                    """)
        }
        #expect(try warnings("") == [])
        #expect(
            try warnings("  own: { hosts: [own.example], publicURL: \"https://own.example\", \(paths) }") == [])
        for other in ["  other: { \(paths) }", "  other: { hosts: [other.example], \(paths) }"] {
            #expect(
                try warnings(other) == [
                    "gatehouse.yaml:7: applications.other.openid.paths: apps of Blitz set a cookie with the path "
                        + "/blitz, which is not sent to https://id.example/apps/other; give the application a "
                        + "`publicURL` of its own"
                ])
        }
    }

    @Test func `a client names scopes of its resources, inspects them and the API's tokens`() {
        let settings =
            "clients: { \(Self.web), resources: [\"https://a.example\"], scopes: [openid, read], "
            + "introspects: [\"https://a.example\", demo] } }, "
            + "resources: { \"https://a.example\": { scopes: { read: { en: a, de: b, fr: c, es: d } } } }"
        #expect(problems("openid: { \(settings) }") == [])
    }

    private func problems(_ lines: String, default name: String = "demo") -> [String] {
        Fixture.problems(
            Fixture.required + """
                server: { publicURL: "https://id.example" }
                defaultApplication: \(name)
                applications:
                  demo:
                    \(lines)
                  other: {}
                  third: { audience: "https://audience.example" }
                """)
    }
}
