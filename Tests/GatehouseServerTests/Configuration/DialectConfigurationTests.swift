import Accounts
import GatehouseServer
import HTTPAPI
import ProviderKit
import Testing

/// What is refused at start, or warned of, in the settings of dialects.
struct DialectConfigurationTests {
    private static let uri = "timetracker://oauth/callback"
    private static let open = "{ uri: \"\(uri)\", pkce: false }"

    private static func yaml(
        _ settings: String, redirectURIs: String = open, providers: String = "scripted: {}", further: String = ""
    ) -> String {
        Fixture.required + """
            server: { publicURL: "https://id.example" }
            defaultApplication: demo
            applications:
              demo:
                redirectURIs: [\(redirectURIs)]
                dialects: { timetracker: { \(settings) } }
                providers: { \(providers) }
                \(further)
            """
    }

    private static let photoURI = "app.immich:///oauth-callback"

    private static func photos(
        _ settings: String, redirectURIs: String = "\"\(photoURI)\"", providers: String = "scripted: {}"
    ) -> String {
        yaml(settings, redirectURIs: redirectURIs, providers: providers).replacing("{ timetracker:", with: "{ immich:")
    }

    private func problems(_ yaml: String) -> [String] {
        do {
            _ = try Fixture.parse(yaml, installed: TestServer.providers)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `every setting of Immich is accepted, also an empty text`() {
        let settings = """
            provider: scripted, redirectURI: "\(Self.photoURI)", version: "1.119.0", passwords: true,
            session: { idle: 90d, lifetime: 400d }, administrators: { role: admin },
            loginPageMessage: "", config: { trashDays: 30 }, features: { trash: true }, pin: { digits: 4-6, elevation: 15m }
            """
        let found = problems(Self.photos(settings.replacing("\n", with: " ")))
        #expect(found == [])
    }

    @Test(arguments: [
        (yaml("redirectURI: \"other://x\""), "timetracker.redirectURI: is not one of"),
        (
            yaml("redirectURI: \"\(uri)\"", redirectURIs: "\"\(uri)\""),
            "timetracker.redirectURI: is registered with PKCE"
        ),
        (yaml("", redirectURIs: "\"\(uri)\""), "timetracker: needs one of"),
        (yaml("provider: nobody"), "timetracker.provider: the application has no such provider"),
        (
            yaml("provider: broken", providers: "scripted: {}, broken: { kind: scripted, colour: red }"),
            "providers.broken.colour: unknown key"
        ),
        (yaml("", providers: ""), "timetracker.provider: the application has no provider with pages"),
        (
            yaml("provider: scripted", providers: "scripted: { enabled: false }"),
            "timetracker.provider: this provider is off"
        ),
        (
            yaml("provider: anonymous", providers: "scripted: {}, anonymous: { enabled: true }"),
            "timetracker.provider: this provider has no pages"
        ),
        (yaml("provider: hosted"), "timetracker.provider: the application has no pages"),
        (yaml("session: refresh"), "timetracker.session: expected access"),
        (yaml("session: { idle: 30d }"), "timetracker.session.lifetime"),
        (yaml("session: { idle: 30d, lifetime: 1d }"), "timetracker.session.idle"),
        (yaml("session: { kind: access, lifetime: 1d }"), "timetracker.session.kind"),
        (yaml("name: x"), "timetracker.name: unknown key"),
        (photos("redirectURI: \"other://x\""), "immich.redirectURI: is not one of"),
        (photos("administrators: { role: Admin }"), "immich.administrators.role: expected the name of a role"),
        (photos("administrators: {}"), "immich.administrators.role: is required"),
        (
            yaml("administrators: { role: admin }", further: "roles: [editor]")
                .replacing("{ timetracker:", with: "{ immich:"),
            "immich.administrators.role: is not one of the application's roles; add it there"
        ),
        (
            photos("redirectURI: \"\(photoURI)\"", redirectURIs: "{ uri: \"\(photoURI)\", pkce: false }"),
            "immich.redirectURI: is registered without PKCE"
        ),
        (photos("provider: scripted", redirectURIs: open), "immich: needs one of `redirectURIs` without `pkce: false`"),
        (photos("provider: scripted", redirectURIs: ""), "immich: needs one of `redirectURIs` without `pkce: false`"),
        (photos("version: \"1.119\""), "immich.version: expected a version of three numbers"),
        (photos("version: v1.119.0"), "immich.version: expected a version of three numbers"),
        (photos("version: 1.119.0-rc1"), "immich.version: expected a version of three numbers"),
        (photos("provider: nobody"), "immich.provider: the application has no such provider"),
        (
            photos("provider: scripted", providers: "scripted: { enabled: false }"),
            "immich.provider: this provider is off"
        ),
        (
            photos("provider: anonymous", providers: "scripted: {}, anonymous: { enabled: true }"),
            "immich.provider: this provider has no pages"
        ),
        (photos("provider: hosted"), "immich.provider: the application has no pages"),
        (photos("session: { idle: 30d }"), "immich.session.lifetime"),
        (photos("config: { trashDays: many }"), "immich.config.trashDays: expected a whole number"),
        (photos("config: { further: [1] }"), "immich.config.further: expected text, a whole number"),
        (photos("features: { further: some }"), "immich.features.further: expected true or false"),
    ])
    func `settings that are refused`(yaml: String, problem: String) {
        let problems = problems(yaml)
        #expect(problems.count == 1 && problems.first?.contains(problem) == true, "\(problems)")
    }

    @Test func `settings are read`() throws {
        func settings(_ yaml: String) throws -> TimeTrackerSettings? {
            try Fixture.parse(yaml, installed: TestServer.providers).application(named: "demo")?.dialects.timeTracker
        }
        let plain = try settings(Self.yaml(""))
        #expect(plain == TimeTrackerSettings(provider: "scripted", redirectURI: nil, renewal: .none))
        let kept = try settings(Self.yaml("redirectURI: \"\(Self.uri)\", session: { idle: 30d, lifetime: 90d }"))
        let lifetime = BearerLifetime(idle: .seconds(30 * 86_400), lifetime: .seconds(90 * 86_400))
        #expect(
            kept == TimeTrackerSettings(provider: "scripted", redirectURI: Self.uri, renewal: .bearer(lifetime)))
        let hosted = try settings(Self.yaml("provider: hosted", further: "openid: {}"))
        #expect(hosted?.provider == "hosted")
    }

    @Test func `settings that hardly do what was meant are warned of`() throws {
        #expect(try Fixture.warnings(Self.yaml("session: { idle: 30d, lifetime: 400d }")).isEmpty)
        let long = try Fixture.warnings(Self.yaml("session: { idle: 30d, lifetime: 401d }"))
        #expect(long.count == 1 && long[0].contains("timetracker.session.lifetime: is longer than 400 days"))
        let several = try Fixture.warnings(Self.yaml("", providers: "scripted: {}, other: { kind: scripted }"))
        #expect(several.count == 1 && several[0].contains("timetracker.provider: several providers have pages"))
    }

    @Test func `settings for photo apps that hardly do what was meant are warned of`() throws {
        #expect(try Fixture.warnings(Self.photos("version: \"1.119.0\"")).isEmpty)
        let long = try Fixture.warnings(Self.photos("session: { idle: 30d, lifetime: 401d }"))
        #expect(long.count == 1 && long[0].contains("immich.session.lifetime: is longer than 400 days"))
        let one = "scripted: {}, other: { kind: scripted, enabled: false }"
        #expect(try Fixture.warnings(Self.photos("", providers: one)).isEmpty)
        let both = try Fixture.warnings(Self.photos("", providers: "scripted: {}, other: { kind: scripted }"))
        #expect(both.count == 1 && both[0].contains("immich.provider: several providers have pages"))
    }

    @Test func `the only redirect URI of photo apps needs no name`() throws {
        func settings(_ yaml: String) throws -> ImmichSettings? {
            try Fixture.parse(yaml, installed: TestServer.providers).application(named: "demo")?.dialects.immich
        }
        let only = try settings(Self.photos("", redirectURIs: "\(Self.open), \"\(Self.photoURI)\""))
        #expect(only?.redirectURI == Self.photoURI)
        let two = "\"\(Self.photoURI)\", \"immich://oauth-callback\""
        #expect(try settings(Self.photos("", redirectURIs: two))?.redirectURI == nil)
        let warnings = try Fixture.warnings(Self.photos("", redirectURIs: two))
        #expect(warnings.count == 1 && warnings[0].contains("immich.redirectURI: several redirectURIs require PKCE"))
        #expect(try Fixture.warnings(Self.photos("redirectURI: \"\(Self.photoURI)\"", redirectURIs: two)).isEmpty)
        let open = try Fixture.warnings(Self.photos("", redirectURIs: Self.open))
        #expect(open.count == 1 && open[0].contains("immich: needs one of `redirectURIs`"), "\(open)")
        let buttonless = Self.photos("", redirectURIs: Self.open, providers: "")
        #expect(try settings(buttonless)?.redirectURI == nil)
        #expect(try Fixture.warnings(buttonless).isEmpty)
    }

    @Test func `further members of an app's answers are kept, except those that the server determines`() throws {
        let config = "config: { trashDays: 7, mapVersion: 3, note: Hello, beta: true, isInitialized: false, none: ~ }"
        let features = "features: { trash: true, memories: true, panorama: false, oauth: false, email: false }"
        let yaml = Self.photos("\(config), \(features)")
        let settings = try Fixture.parse(yaml, installed: TestServer.providers).application(named: "demo")?.dialects
            .immich
        #expect(
            settings?.config == [
                "trashDays": .integer(7), "publicUsers": .bool(false), "maintenanceMode": .bool(false),
                "mapVersion": .integer(3), "note": .string("Hello"), "beta": .bool(true),
            ])
        let further = settings?.features.filter { !ImmichSettings.backendFeatures.contains($0.key) }
        #expect(further == ["memories": .bool(true), "panorama": .bool(false)])
        #expect(settings?.features["trash"] == .bool(true) && settings?.features["search"] == .bool(false))
        let warnings = try Fixture.warnings(yaml)
        #expect(warnings.count == 3, "\(warnings)")
        for own in ["config.isInitialized", "features.oauth", "features.email"] {
            #expect(warnings.contains { $0.contains("immich.\(own): is left out") }, "\(own): \(warnings)")
        }
    }

    @Test func `dialects without a common path go together`() throws {
        let yaml = Self.yaml("provider: scripted", redirectURIs: "\(Self.open), \"\(Self.photoURI)\"").replacing(
            "dialects: {", with: "dialects: { immich: { version: \"1.119.0\", provider: scripted },")
        let dialects = try Fixture.parse(yaml, installed: TestServer.providers).application(named: "demo")?.dialects
        #expect(dialects?.immich?.version == ImmichSettings.Version(major: 1, minor: 119, patch: 0))
        #expect(dialects?.timeTracker != nil)
    }
}
