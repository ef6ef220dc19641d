import Accounts
import Delivery
import Foundation
import Logging
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// A running server applies changes to its configuration file.
struct ReloadTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let log = CollectedLog()

    init() throws {
        directory = try TemporaryDirectory()
        path = try directory.write(TestServer.yaml())
    }

    private func reload(of server: TestServer) throws -> ConfigurationReload {
        let environment = ["DATABASE_URL": server.databaseURL]
        let configuration = try Configuration.load(
            path: path, environment: environment, installed: TestServer.providers)
        return ConfigurationReload(
            of: configuration, path: path, environment: environment, installed: TestServer.providers,
            logger: log.logger, takeOver: server.server.take(over:sections:))
    }

    @Test func `origins, applications and providers follow the file`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let reload = try reload(of: server)
            let person = try await client.register(at: server)
            func status(_ origin: String) async throws -> Int {
                try await client.post("/auth/anonymous", headers: ["origin": origin]).status
            }
            #expect(try await status("http://localhost:3000") == 200)
            #expect(try await status("https://new.example") == 403)
            expectError(try await client.send(.GET, "/apps/photos/health/live"), 404, "UNKNOWN_APPLICATION")

            try directory.write(TestServer.yaml(others: TestServer.photos, origin: "https://new.example"))
            await reload.poll()
            #expect(try await status("http://localhost:3000") == 403)
            #expect(try await status("https://new.example") == 200)
            let photos = APIClient(server, application: "photos")
            #expect(try await photos.guest().uid != person.uid)
            #expect(try await client.login(person.email).status == 200)
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)

            try directory.write(TestServer.yaml(email: "enabled: false"))
            await reload.poll()
            expectError(try await client.login(person.email), 403, "PROVIDER_DISABLED")
            #expect(try await client.get("/auth/providers")["providers"].array?.count == 1)
            expectError(try await photos.post("/auth/anonymous"), 404, "UNKNOWN_APPLICATION")
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)

            try directory.write(TestServer.yaml())
            await reload.poll()
            #expect(try await client.login(person.email).status == 200)
        }
    }

    @Test func `lifetimes and the mode of a provider follow the file`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let reload = try reload(of: server)
            let person = try await client.register(at: server)
            try directory.write(
                TestServer.yaml(
                    tokens: "algorithm: ES256, accessLifetime: 7200", email: "mode: existing"))
            await reload.poll()
            #expect(try await client.login(person.email)["expiresIn"] == 7200)
            #expect(try await client.refresh(person.refreshToken)["expiresIn"] == 7200)
            let refused = try await client.post(
                "/auth/register", ["email": "new@example.com", "password": .string(APIClient.password)])
            expectError(refused, 403, "PROVIDER_DISABLED")
        }
    }

    @Test(arguments: [
        "applications: [", "server: {}\n", "applications: { demo: { origin: x } }", "\u{0}", "",
    ])
    func `a broken file is refused and the old one stays`(text: String) async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let reload = try reload(of: server)
            try directory.write(text)
            await reload.poll()
            #expect(log.lines.count == 1 && log.lines[0].contains("refused"), "\(log.lines)")
            #expect(
                try await client.post("/auth/anonymous", headers: ["origin": "http://localhost:3000"]).status == 200)
            try directory.write(TestServer.yaml(origin: "https://new.example"))
            await reload.poll()
            #expect(try await client.post("/auth/anonymous", headers: ["origin": "https://new.example"]).status == 200)
        }
    }

    @Test func `a changed algorithm signs with a new key and the old one stays published`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let reload = try reload(of: server)
            let guest = try await client.guest()
            try directory.write(TestServer.yaml(tokens: "algorithm: EdDSA"))
            await reload.poll()
            let token = try await client.guest().accessToken
            #expect(try DecodedToken(token).header["alg"] == "EdDSA")
            #expect(try await client.get("/auth/me", bearer: guest.accessToken).status == 200)
            #expect(try await client.get("/auth/me", bearer: token).status == 200)
            #expect(try await client.send(.GET, "/.well-known/jwks.json")["keys"].array?.count == 3)
        }
    }

    @Test func `webhooks come and go with the file`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with { server in
                let client = APIClient(server)
                let reload = try reload(of: server)
                let before = try await client.guest()
                try directory.write(TestServer.yaml(webhooks: "[\(sink.entry("account.created"))]"))
                await reload.poll()
                let told = try await client.guest()
                try await eventually("the event is told") { !sink.posts.isEmpty }
                #expect(sink.posts.map { $0.data["uid"].string } == [told.uid])
                #expect(sink.posts[0].isSigned(with: WebhookSink.secret))

                let secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                try directory.write(
                    TestServer.yaml(
                        webhooks: "[\(sink.entry("account.created").replacing(WebhookSink.secret, with: secret))]"))
                await reload.poll()
                _ = try await client.guest()
                try await eventually("the next event is told") { sink.posts.count == 2 }
                #expect(sink.posts[1].isSigned(with: secret), "with the secret in force")

                try directory.write(TestServer.yaml())
                await reload.poll()
                _ = try await client.guest()
                #expect(try await server.count("SELECT count(*) FROM webhook_deliveries") == 2)
                #expect(before.uid != told.uid)
            }
        }
    }
}
