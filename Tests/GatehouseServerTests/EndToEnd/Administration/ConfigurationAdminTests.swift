import Accounts
import Administration
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The configuration as administrators see it.
struct ConfigurationAdminTests {
    @Test func `each key has its value and its source, and secrets are set`() async throws {
        try await WebhookSink.with { sink in
            let hook = "{ url: \"\(sink.url)\", secret: \(WebhookSink.secret), name: crm }"
            let google =
                "{ kind: oidc, issuer: \"https://issuer.example\", clientID: client, clientSecret: very-secret-indeed }"
            try await TestServer.with(
                providers: "google: \(google)\noff: { kind: oidc, mode: off, clientSecret: another-secret-thing }",
                others: TestServer.photos, webhooks: "[\(hook)]", admin: OperatorClient.admin
            ) { server in
                let answer = try await OperatorClient.of(server).get("/configuration")
                let keys = answer.configuration
                #expect(answer.status == 200 && answer["refused"] == .null, "\(answer.text)")
                #expect(keys["server.host"] == ["127.0.0.1", "file:1"])
                #expect(keys["server.trustedProxies"] == [[], "default"])
                #expect(keys["database.url"] == ["set", "environment"])
                #expect(keys["database.connections"] == ["8", "file:2"])
                #expect(keys["secrets.masterKey"] == ["set", "file:3"])
                #expect(keys["passwords.argon2.memoryKiB"] == ["256", "file:5"])
                #expect(keys["passwords.minimumLength"]?.array?.last == "default")
                #expect(keys["webhooks[0].name"] == ["crm", "file:7"])
                #expect(keys["webhooks[0].secret"] == ["set", "file:7"])
                #expect(keys["admin.serviceKeys.longest"] == ["31536000", "default"])
                #expect(keys["applications.demo.audience"]?.array?.first == "demo")
                #expect(keys["applications.demo.providers.google.issuer"]?.array?.first == "https://issuer.example")
                #expect(keys["applications.demo.providers.google.clientSecret"]?.array?.first == "set")
                #expect(keys["applications.demo.providers.off.clientSecret"]?.array?.first == "set")
                #expect(keys["applications.demo.deletion.gracePeriod"] == ["2592000", "default"])
                let secrets = [
                    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", WebhookSink.secret, "very-secret-indeed",
                    "another-secret-thing", server.databaseURL,
                ]
                for secret in secrets { #expect(!answer.text.contains(secret), "\(secret)") }
            }
        }
    }

    @Test func `an administrator sees the keys of the own application and those of all`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let demo = try await OperatorClient.of(server).get("/configuration").configuration
            let photos = try await OperatorClient.of(server, application: "photos").get("/configuration").configuration
            #expect(photos["server.host"] == demo["server.host"])
            #expect(photos["applications.photos.audience"] != nil && demo["applications.demo.audience"] != nil)
            #expect(!photos.keys.contains { $0.hasPrefix("applications.demo") })
            #expect(!demo.keys.contains { $0.hasPrefix("applications.photos") })
        }
    }

    @Test func `the last refused file is shown with its problems until one is taken over`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let demo = try await OperatorClient.of(server)
            let photos = try await OperatorClient.of(server, application: "photos")
            let directory = try TemporaryDirectory()
            let yaml = TestServer.yaml(others: TestServer.photos, admin: OperatorClient.admin)
            let environment = ["DATABASE_URL": server.databaseURL]
            let path = try directory.write(yaml)
            let reload = ConfigurationReload(
                of: try .load(path: path, environment: environment, installed: TestServer.providers), path: path,
                environment: environment, installed: TestServer.providers, logger: CollectedLog().logger,
                live: server.server.live, takeOver: server.server.take(over:sections:))
            let broken = yaml.replacing("audience: demo", with: "audience: demo\n    tokenz: secret-value")
            try directory.write(broken.replacing("rateLimits: off", with: "rateLimits: { login: often }"))
            await reload.poll()
            let refused = try await demo.get("/configuration")
            let problems = refused["refused"]["problems"].array ?? []
            #expect(problems.map { $0["key"].string } == ["rateLimits.login", "applications.demo.tokenz"])
            #expect(problems.first?["line"].integer == 6 && refused["refused"]["at"].string != nil, "\(refused.text)")
            #expect(!refused.text.contains("secret-value") && !refused.text.contains("often"))
            let elsewhere = try await photos.get("/configuration")["refused"]["problems"].array ?? []
            #expect(elsewhere.map { $0["key"].string } == ["rateLimits.login"])
            func metrics() async throws -> String { try await APIClient(server).send(.GET, "/metrics").text }
            #expect(try await metrics().contains("gatehouse_configuration_refused 1.0\n"))

            try directory.write(yaml.replacing("rateLimits: off", with: "rateLimits: { login: 7/min }"))
            await reload.poll()
            let taken = try await demo.get("/configuration")
            #expect(taken["refused"] == .null)
            #expect(try await metrics().contains("gatehouse_configuration_refused 0.0\n"))
            #expect(taken.configuration["rateLimits.login"] == ["7/min", "file:6"])
        }
    }

    @Test func `a shorthand, a shared section and a file have their sources`() throws {
        let directory = try TemporaryDirectory()
        try Data("whsec_AAAA\n".utf8).write(to: URL(filePath: directory.path + "/secret"))
        let path = try directory.write(
            """
            server: { development: true }
            database: { url: "postgresql:///none" }
            secrets: { masterKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=" }
            webhooks: [{ url: "https://hooks.example/secret-of-hook", secret: "file:secret" }]
            deletion: { gracePeriod: 1d }
            applications:
              demo: { recentAuthentication: 10m, audience: "${AUDIENCE}" }
            """)
        let configuration = try Configuration.load(
            path: path, environment: ["AUDIENCE": "somebody"], installed: InstalledProviders([]))
        let values = Dictionary(uniqueKeysWithValues: configuration.values.map { ($0.key, $0) })
        #expect(values["webhooks[0].secret"]?.value == "set" && values["webhooks[0].url"]?.value == "set")
        #expect(values["applications.demo.deletion.gracePeriod"]?.value == "86400")
        #expect(values["applications.demo.deletion.gracePeriod"]?.source == .file(line: 5))
        #expect(values["applications.demo.deletion.webhookDeadline"]?.source == .standard)
        #expect(values["applications.demo.recentAuthentication.default"]?.value == "600")
        #expect(values["applications.demo.recentAuthentication.default"]?.source == .file(line: 7))
        #expect(values["applications.demo.audience"]?.value == "somebody")
        #expect(values["applications.demo.audience"]?.source == .environment)
        #expect(values["applications.demo.audience"]?.application == "demo")
    }
}

extension APIClient.Answer {
    /// The value and the source of each key.
    fileprivate var configuration: [String: JSONValue] {
        let pairs = (json["items"].array ?? []).compactMap { item in
            item["key"].string.map { ($0, JSONValue.array([item["value"], item["source"]])) }
        }
        return Dictionary(pairs) { $1 }
    }
}
