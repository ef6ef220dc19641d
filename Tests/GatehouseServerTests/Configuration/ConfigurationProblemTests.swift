import GatehouseServer
import ProviderKit
import Testing

/// Each fault of a file is reported in one line.
struct ConfigurationProblemTests {
    @Test(arguments: [
        ("server: { port: 65536 }", "4: server.port: expected a whole number from 0 to 65535"),
        ("server: { port: abc }", "4: server.port: expected a whole number from 0 to 65535"),
        ("server:\n  host: 0.0.0.0", "4: server.publicURL: is required"),
        (
            "server:\n  publicURL: ftp://x",
            "5: server.publicURL: expected an absolute http or https URL without user, query or fragment"
        ),
        (
            "server:\n  publicURL: \"https://x/?a\"",
            "5: server.publicURL: expected an absolute http or https URL without user, query or fragment"
        ),
        (
            "server:\n  host: 0.0.0.0\n  publicURL: https://x\n  development: true",
            "7: server.development: only allowed where server.host is a loopback address"
        ),
        (
            "server: { trustedProxies: [10.0.0.0/33] }",
            "4: server.trustedProxies[0]: expected an IP address or a range as in 10.0.0.0/8"
        ),
        (
            "server:\n  trustedProxies:\n    - ::1\n    - nobody",
            "7: server.trustedProxies[1]: expected an IP address or a range as in 10.0.0.0/8"
        ),
        (
            "server: { tls: { certificate: nowhere.pem, key: \"-----BEGIN X\" } }",
            "4: server.tls.certificate: the file it names can't be read: No such file or directory"
        ),
        ("server: []", "4: server: expected a mapping"),
        (
            "serveur: {}",
            "4: serveur: unknown key, expected one of server, database, secrets, network, passwords, rateLimits, delivery, webhooks, admin, defaultApplication, deletion, anonymous, applications"
        ),
        ("network: { allowPrivateHosts: yes }", "4: network.allowPrivateHosts: expected true or false"),
        ("passwords: { minimumLength: 7 }", "4: passwords.minimumLength: expected a whole number from 8 to 128"),
        (
            "passwords:\n  argon2:\n    parallelism: 4\n    memoryKiB: 16",
            "7: passwords.argon2.memoryKiB: must be between 32 (8 times parallelism) and 1048576"
        ),
        ("passwords: { pepper: short }", "4: passwords.pepper: expected a secret of at least 32 bytes, or file:PATH"),
        (
            "rateLimits: { login: 5 }",
            "4: rateLimits.login: expected a rate as in 5/min or 3/h (1 to 1000000 per s, min, h or d), or off"
        ),
        (
            "rateLimits: { logn: off }",
            "4: rateLimits.logn: unknown key, expected one of login, refresh, apple, logout, forgotPassword, register, anonymous, otpClient, otpSend, forgotPasswordTarget, registerTarget, authorize, token, clientRegistration, device, userCode, qr, adminClient, adminKey, adminSearch, adminReveal, adminExport, general"
        ),
        ("rateLimits: on", "4: rateLimits: expected a mapping, or off"),
        ("delivery: { email: { smtp: \"smtp://x\" } }", "4: delivery.email.from: is required"),
        (
            "delivery: { email: { from: nobody, smtp: \"smtp://x\" } }",
            "4: delivery.email.from: is not an address like `Name <name@domain.example>`"
        ),
        (
            "delivery: { sms: { url: \"https://x\", kind: twilio } }",
            "4: delivery.sms.from: is required where kind is twilio"
        ),
        (
            "delivery: { sms: { url: \"https://x\", budget: often } }",
            "4: delivery.sms.budget: expected a rate as in 5/min or 3/h (1 to 1000000 per s, min, h or d), or off"
        ),
        (
            "delivery: { sms: { url: \"https://x\", budget: { prefix: 1/h } } }",
            "4: delivery.sms.budget.prefix: unknown key, expected one of total, perPrefix"
        ),
        ("delivery: { templates: nowhere }", "4: delivery.templates: expected the path of a directory"),
        (
            "webhooks:\n  - url: \"https://x\"\n    secret: whsec_!",
            "6: webhooks[0].secret: expected whsec_ and base64, or file:PATH"
        ),
        ("webhooks: [{ url: x, secret: whsec_AAAA }]", "4: webhooks[0].url: expected an absolute http or https URL"),
        (
            "webhooks:\n  - { url: \"http://x\", secret: whsec_AAAA }\n  - { url: \"http://x\", secret: whsec_BBBB }",
            "6: webhooks[1].url: another webhook has the same URL"
        ),
        (
            "webhooks: [{ url: \"http://x\", secret: whsec_AAAA, events: [account.delete] }]",
            "4: webhooks[0].events[0]: expected one of account.created, account.deleted, account.restored, account.erased, account.merged, account.unmerged, account.changed, identity.linked, identity.unlinked"
        ),
        ("defaultApplication: other", "4: defaultApplication: no such application is configured"),
        (
            "deletion: { gracePeriod: 1w }",
            "4: deletion.gracePeriod: expected a duration from 0s to 36500d (whole seconds, or 90s, 5m, 2h, 30d)"
        ),
    ])
    func `at the top`(lines: String, problem: String) {
        #expect(Fixture.problems(Fixture.top(lines)) == ["gatehouse.yaml:\(problem)"])
    }

    @Test(arguments: [
        ("tokens:\n  algorithm: HS256", "6: applications.demo.tokens.algorithm: expected one of RS256, ES256, EdDSA"),
        ("tokens: { rsaBits: 1024 }", "5: applications.demo.tokens.rsaBits: expected one of 2048, 3072, 4096"),
        (
            "tokens: { accessLifetime: 2d }",
            "5: applications.demo.tokens.accessLifetime: expected a duration from 1s to 1d (whole seconds, or 90s, 5m, 2h, 30d)"
        ),
        ("linking: { automatic: always }", "5: applications.demo.linking.automatic: expected one of verified, never"),
        (
            "recentAuthentication: -1",
            "5: applications.demo.recentAuthentication: expected a duration from 0s to 36500d (whole seconds, or 90s, 5m, 2h, 30d)"
        ),
        (
            "recentAuthentication: { deletion: never }",
            "5: applications.demo.recentAuthentication.deletion: expected a duration from 0s to 36500d (whole seconds, or 90s, 5m, 2h, 30d), or off"
        ),
        (
            "recentAuthentication: { deletion: off }\ndeletion: { gracePeriod: 6d }",
            "5: applications.demo.recentAuthentication: deletion: off needs a deletion.gracePeriod of at least 7d, in which it can be undone"
        ),
        (
            "origins: [\"https://x/\"]",
            "5: applications.demo.origins[0]: expected a bare origin as in https://app.example: scheme, host and port, nothing after them"
        ),
        (
            "origins: [\"*\"]",
            "5: applications.demo.origins[0]: expected a bare origin as in https://app.example: scheme, host and port, nothing after them"
        ),
        ("origins: https://x", "5: applications.demo.origins: expected a list"),
        (
            "hosts: [\"a/b\"]",
            "5: applications.demo.hosts[0]: expected a host name, with a port where it isn't the scheme's own"
        ),
        (
            "redirectURIs:\n  - uri: x:y\n    pkcs: true",
            "7: applications.demo.redirectURIs[0].pkcs: unknown key, expected one of pkce, uri"
        ),
        (
            "redirectURIs: [\"javascript:alert(1)\"]",
            "5: applications.demo.redirectURIs[0]: expected an absolute URI without a fragment"
        ),
        (
            "redirectURIs: [\"https://x/#f\"]",
            "5: applications.demo.redirectURIs[0]: expected an absolute URI without a fragment"
        ),
        (
            "openid: {}\nproviders: { hosted: { kind: anonymous } }",
            "6: applications.demo.providers.hosted: is the name of the application's own pages, which `openid` adds"
        ),
        (
            "openid: { pages: { logo: \"logo.svg\" } }",
            "5: applications.demo.openid.pages.logo: expected file:PATH of an SVG, PNG or WebP picture up to 64 KiB"
        ),
        (
            "openid: { pages: { logo: \"file:/bin/sh\" } }",
            "5: applications.demo.openid.pages.logo: expected file:PATH of an SVG, PNG or WebP picture up to 64 KiB"
        ),
        (
            "openid: { pages: { colours: { accent: blue } } }",
            "5: applications.demo.openid.pages.colours.accent: expected a colour as in #1f5fd0"
        ),
        (
            "openid: { pages: { colours: { accent: \"#8ab4ff\" } } }",
            "5: applications.demo.openid.pages.colours.accent: has a contrast of 1.91 to #f4f5f7; at least 4.5 is needed"
        ),
        (
            "openid: { pages: { colours: { accentDark: \"#1f5fd0\" } } }",
            "5: applications.demo.openid.pages.colours.accentDark: has a contrast of 2.75 to #1e2226; at least 4.5 is needed"
        ),
        (
            "roles: [editor, \"9a\"]",
            "5: applications.demo.roles[1]: expected the name of a role: 1 to 32 of a-z, 0-9, _ and -, the first a letter"
        ),
        (
            "claims: { largest: 4097 }",
            "5: applications.demo.claims.largest: expected a whole number from 2 to 4096"
        ),
        (
            "openid: { pages: { links: { terms: \"http://a.example/\" } } }",
            "5: applications.demo.openid.pages.links.terms: expected an https URL without user"
        ),
    ])
    func `in an application`(lines: String, problem: String) {
        #expect(Fixture.problems(Fixture.application(lines)) == ["gatehouse.yaml:\(problem)"])
    }

    @Test(arguments: [
        (
            "nobody: { enabled: true }",
            "6: applications.demo.providers.nobody.kind: no such kind is installed, only anonymous, email, phone, apple, oidc, oauth2, custom-token, mobile-network"
        ),
        (
            "x:\n  kind: saml\n  a: b",
            "7: applications.demo.providers.x.kind: no such kind is installed, only anonymous, email, phone, apple, oidc, oauth2, custom-token, mobile-network"
        ),
        (
            "anonymous: { enabled: true, mode: open }",
            "6: applications.demo.providers.anonymous.enabled: only one of mode and enabled may be set"
        ),
        (
            "anonymous: { mode: closed }",
            "6: applications.demo.providers.anonymous.mode: expected one of open, existing, linkOnly, off"
        ),
        (
            "Anonymous: {}",
            "6: applications.demo.providers.Anonymous: a name is 1 to 63 of a-z, 0-9, _ and -, the first a letter or digit"
        ),
        (
            "email:\n  resetLink: nowhere",
            "7: applications.demo.providers.email.resetLink: expected an absolute http or https URL"
        ),
        (
            "email:\n  link: x",
            "7: applications.demo.providers.email.link: unknown key, expected one of kind, mode, enabled, displayName, expose, secretExpires, verificationLink, resetLink, verification"
        ),
        (
            "email:\n  expose: [role]",
            "7: applications.demo.providers.email.expose: identities of kind email have no claims to expose"
        ),
        (
            "anonymous: { enabled: false, expose: [role] }",
            "6: applications.demo.providers.anonymous.expose: identities of kind anonymous have no claims to expose"
        ),
        (
            "o: { kind: oidc, issuer: \"https://x\", clientID: a, clientSecret: b, expose: [role, sub] }",
            "6: applications.demo.providers.o.expose[1]: sub is a claim of the server's own tokens"
        ),
        (
            "o: { kind: oidc, issuer: \"https://x\", clientID: a, clientSecret: b, expose: [roles] }",
            "6: applications.demo.providers.o.expose[0]: roles is a claim of the server's own tokens"
        ),
        ("phone: {}", "6: applications.demo.providers.phone.allowedCountries: is required"),
        ("phone: { allowedCountries: FR }", "6: applications.demo.providers.phone.allowedCountries: expected a list"),
        (
            "phone: { allowedCountries: [], idleLimit: 99999999999999999999d }",
            "6: applications.demo.providers.phone.idleLimit: expected a duration from 0s to 36500d (whole seconds, or 90s, 5m, 2h, 30d)"
        ),
        (
            "o: { kind: oidc, issuer: \"https://x\", clientID: a, clientSecret: b, nonce: no }",
            "6: applications.demo.providers.o.nonce: expected one of required, off"
        ),
        (
            "o: { kind: oidc, issuer: \"https://x\", clientID: a, clientSecret: b, trustEmail: 1 }",
            "6: applications.demo.providers.o.trustEmail: expected true or false"
        ),
        (
            "o:\n  kind: oidc\n  issuer: http://x\n  clientID: a\n  clientSecret: b",
            "8: applications.demo.providers.o.issuer: has to be https"
        ),
        (
            "o:\n  { kind: oidc, issuer: \"https://x\", clientID: a,\n    clientSecret: leaked-secret }",
            "8: applications.demo.providers.o.clientSecret: is refused; the reason would repeat a secret"
        ),
        (
            "c:\n  kind: custom-token\n  issuer: https://x\n  audience: a\n  jwks: b\n  algorithms:\n    - RS256\n    - HS256",
            "13: applications.demo.providers.c.algorithms[1]: Cannot initialize Algorithm from invalid String value HS256"
        ),
        (
            "carrier: { kind: mobile-network, enabled: false, jwksURL: nowhere }",
            "6: applications.demo.providers.carrier.jwksURL: expected an absolute http or https URL"
        ),
        (
            "carrier: { kind: mobile-network, enabled: false, colour: red }",
            "6: applications.demo.providers.carrier.colour: unknown key, expected one of kind, mode, enabled, displayName, expose, secretExpires, gateways, header, issuer, jwksURL"
        ),
    ])
    func `in a provider`(lines: String, problem: String) {
        #expect(Fixture.problems(Fixture.providers(lines)) == ["gatehouse.yaml:\(problem)"])
    }

    @Test(arguments: [
        "u:SECRET1/SECRET2@127.0.0.1/x", "u:SECRET1@SECRET2@127.0.0.1/x", "u:1@SECRET1/SECRET2@127.0.0.1/x",
        "u:1/SECRET2@127.0.0.1/x", "u:SECRET1?SECRET2/@127.0.0.1/x", "u:SECRET1%SECRET2@127.0.0.1/x",
        "u:%\\\"SECRET1%@127.0.0.1/x", ":SECRET1/x", "127.0.0.1:0/x", "a,b:70000/x",
    ])
    func `a database's URL whose password is not encoded is refused without it`(url: String) throws {
        let problem = try #require(refusal(ofDatabase: url))
        #expect(problem.hasPrefix("gatehouse.yaml:1: database.url: is not a usable URL: "))
        #expect(problem.contains("%40") && !problem.contains("SECRET"), "\(problem)")
    }

    @Test(arguments: [
        ("/x?foo=1", "invalid URI query parameter"),
        ("/x?sslmode=bogus", "sslmode is not one of disable, allow, prefer, require, verify-ca, verify-full"),
        ("/x?target_session_attrs=rw", "target_session_attrs is not one of any, read-write"),
        ("/x?connect_timeout=soon", "connect_timeout is not a number"),
    ])
    func `a database's URL with options that libpq does not know is refused`(url: String, reason: String) throws {
        let problem = try #require(refusal(ofDatabase: url))
        #expect(problem.contains("database.url: is not a usable URL: \(reason)"), "\(problem)")
    }

    @Test(arguments: [
        "", "/x", "%2Fvar%2Frun/x", "/x?host=/var/run/a@b&port=5433", "/x?host=@abstract", "u:a%40b%2Fc@[::1]:5432/x",
        "u:a?b=c@a:1,b:2/x?target_session_attrs=any&sslmode=verify-full", "a,b/x?port=,5433", "u@a/x%40y",
    ])
    func `a database's URL that libpq accepts is accepted`(url: String) { #expect(refusal(ofDatabase: url) == nil) }

    /// The only problem of a file with that URL, which lacks its scheme here.
    private func refusal(ofDatabase url: String) -> String? {
        let problems = Fixture.problems(
            Fixture.top("").replacing("postgresql://localhost/gatehouse", with: "postgresql://" + url))
        #expect(problems.count < 2)
        return problems.first
    }

    @Test func `a provider that sends codes without delivery is a warning`() throws {
        let lines = "email: {}\nphone: { mode: existing }\nold: { kind: email, enabled: false }"
        #expect(
            try Fixture.warnings(Fixture.providers(lines)) == [
                "gatehouse.yaml:6: applications.demo.providers.email: sends nothing without `delivery.email`; add it with `from` and `smtp`",
                "gatehouse.yaml:7: applications.demo.providers.phone: sends nothing without `delivery.sms`; add it with `url`",
            ])
        let delivery = """
            delivery: { email: { from: a@b.example, smtp: "smtps://host" }, sms: { url: "https://sms.example" } }
            """
        #expect(try Fixture.warnings(Fixture.providers(lines) + delivery) == [])
    }

    @Test(arguments: ["assets", "callback", "claim", "sign-in", "sign-out"])
    func `an application has no name that is a path of the console`(name: String) {
        func problems(_ console: Bool) -> [String] {
            Fixture.problems(
                Fixture.required
                    + """
                    server: { publicURL: "https://id.example" }
                    admin: { application: demo, console: \(console) }
                    applications:
                      demo: { openid: {} }
                      \(name): {}
                    """
            ).filter { $0.contains("path of the console") }
        }
        #expect(
            problems(true) == [
                "gatehouse.yaml:7: applications.\(name): `\(name)` is a path of the console; name this application differently"
            ])
        #expect(problems(false) == [])
    }

    @Test func `administrators from anywhere, by any method, or out of everybody are warned of`() throws {
        func warnings(_ mode: String, _ admin: String) throws -> [String] {
            let providers = Fixture.providers("scripted: { mode: \(mode) }")
            return try Fixture.warnings(providers + "admin: { application: demo\(admin) }\n")
        }
        #expect(
            try warnings("open", "") == [
                "gatehouse.yaml:8: admin: admits administrators from anywhere; set `allow`, or `server.admin`",
                "gatehouse.yaml:8: admin: lets administrators sign in by any method; set `requireMethods`",
                "gatehouse.yaml:8: admin.application: everybody can open an account in demo, by scripted; set their "
                    + "`mode` to `existing`",
            ])
        let careful = ", allow: [10.0.0.0/8], requireMethods: [pwd, otp, sms, qr, fed]"
        for mode in ["existing", "linkOnly", "off"] { #expect(try warnings(mode, careful) == []) }
        #expect(try warnings("open", careful).count == 1)
        #expect(try warnings("existing", ", allow: [10.0.0.0/8]").count == 1)
        #expect(
            try warnings("existing", ", allow: [10.0.0.0/8], requireMethods: [pwd, hwk]") == [
                "gatehouse.yaml:8: admin.requireMethods[1]: no sign-in has this method; there are pwd, otp, sms, qr, fed"
            ])
    }

    @Test(
        arguments: [
            ("openid: {}", "", nil), ("openid: {}", "admin: { port: 1, publicURL: \"https://a.example\" }", nil),
            (
                "audience: demo", "",
                "6: admin.application: needs `openid` in this application: administrators sign in to the console there"
            ),
            (
                "openid: { clients: { gatehouse-console: { name: X, public: true, redirectURIs: [\"https://a.example/\"] } } }",
                "", "5: applications.demo.openid.clients.gatehouse-console: is the name of the console"
            ),
            (
                "openid: {}", "admin: { port: 1 }",
                "7: server.admin: needs `publicURL`, where administrators reach the console"
            ),
            (
                "openid: {}", "admin: { port: 1, publicURL: \"http://a.example\" }",
                "6: admin.console: needs a server that administrators reach by https"
            ),
        ] as [(String, String, String?)])
    func `a console that administrators could not sign in to is a problem`(
        application: String, server: String, problem: String?
    ) {
        let file =
            Fixture.application(application) + """
                admin: { application: demo, console: true }
                server: { \(server) }
                """
        #expect(Fixture.problems(file) == (problem.map { ["gatehouse.yaml:\($0)"] } ?? []))
    }

    @Test(arguments: [
        ("", true), ("anonymous: {}", true), ("scripted: { mode: linkOnly }", true),
        ("scripted: { mode: off }", true), ("scripted: {}", false), ("scripted: { mode: existing }", false),
        ("carrier: { kind: mobile-network, gateways: [127.0.0.1], header: X-MSISDN }", false),
    ])
    func `pages at which no provider can be used are a warning`(provider: String, isWarning: Bool) throws {
        let warning =
            "gatehouse.yaml:5: applications.demo.openid: people cannot sign in at its pages; enable a provider "
            + "with passwords, codes or pages of its own, such as `email` or `oidc`"
        let web = "{ name: Web, public: true, redirectURIs: [\"https://a.example/cb\"] }"
        for openID in ["{}", "{ clients: { web: \(web) } }"] {
            let lines = "openid: \(openID)\nproviders: { \(provider) }"
            #expect(try Fixture.warnings(Fixture.application(lines)) == (isWarning ? [warning] : []))
        }
        let machine = "{ name: Job, secret: \"\(String(repeating: "s", count: 32))\", grants: [] }"
        #expect(try Fixture.warnings(Fixture.application("openid: { clients: { job: \(machine) } }")) == [])
    }

    @Test func `all of them come out at once, by line`() {
        let problems = Fixture.problems(
            """
            applications:
              demo:
                hosts: [id.example, ID.example]
                tokens: { algorithm: none }
              Other: {}
              more: { hosts: [id.example] }
            secrets: { masterKey: short }
            colour: red
            """)
        #expect(
            problems == [
                "gatehouse.yaml:1: database.url: is required",
                "gatehouse.yaml:3: applications.demo.hosts[1]: the application demo already lists this host",
                "gatehouse.yaml:4: applications.demo.tokens.algorithm: expected one of RS256, ES256, EdDSA",
                "gatehouse.yaml:5: applications.Other: a name is 1 to 63 of a-z, 0-9, _ and -, the first a letter or digit",
                "gatehouse.yaml:6: applications.more.hosts[0]: the application demo already lists this host",
                "gatehouse.yaml:7: secrets.masterKey: expected 32 bytes in base64, or file:PATH",
                "gatehouse.yaml:8: colour: unknown key, expected one of server, database, secrets, network, passwords, "
                    + "rateLimits, delivery, webhooks, admin, defaultApplication, deletion, anonymous, applications",
            ])
    }
}
