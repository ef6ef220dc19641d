import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing
import Tokens

@testable import GatehouseServer

/// After a key rotation every replica signs with the new key at once, and tokens signed with the old key stay valid.
@Suite(.serialized) struct KeyRotationTests {
    @Test func aRotatedKeySignsOnBothReplicas() async throws {
        try await Replicas.with { replicas in
            let backend = replicas.first.backend
            let application = try #require(try await backend.applications(named: "demo").first)
            try await check(replicas, algorithm: "ES256") {
                try await backend.keys.rotate(application)
            }
        }
    }

    @Test(arguments: ["EdDSA", "RS256"])
    func anotherAlgorithmIsTakenOver(algorithm: String) async throws {
        try await Replicas.with { replicas in
            let configuration = try Self.configuration(algorithm: algorithm)
            try await check(replicas, algorithm: algorithm) {
                try await replicas.first.server.take(over: configuration, sections: [.applications])
            }
        }
    }

    @Test func aRotationIsRepeatedWhileTheKeyIsLocked() async throws {
        try await TestServer.with { server in
            _ = try await APIClient(server).guest()
            var configuration = Database.Configuration(url: server.databaseURL)
            configuration.lockTimeout = .milliseconds(50)
            let database = Database(configuration, logger: TestServer.silence)
            database.start()
            let (table, application) = (SigningKeysTable(database: database), try await server.application().id)
            func signing() async throws -> StoredSigningKey? {
                let keys = try await table.signingKeys(application: application)
                return keys.first { $0.purpose == .accessTokens && $0.retiredAt == nil }
            }
            let former = try #require(try await signing())
            var next = former
            next.kid = "next"
            let rotation = try await server.backend.database.transaction { [next] transaction in
                _ = try await transaction.execute(Self.lockKeys)
                let rotation = Task {
                    try await table.installSigningKey(
                        next, replacing: former.kid, overlap: .zero, recording: nil, application: application)
                }
                // Longer than a statement waits for the lock.
                try await Task.sleep(for: .milliseconds(300))
                return rotation
            }
            try await rotation.value
            #expect(try await signing()?.kid == "next")
            await database.stop()
        }
    }

    @Test func aReloadThatFailsIsRepeated() async throws {
        let log = CollectedLog()
        @Sendable func eventuallyLogged(_ text: String) async throws {
            try await eventually("\"\(text)\" is logged") {
                log.lines.contains { $0.contains(text) && $0.contains("Changed keys are not known") }
            }
        }
        try await TestServer.with(logger: log.logger) { server in
            try await server.execute("ALTER TABLE signing_keys RENAME TO elsewhere")
            try await server.execute("SELECT pg_notify('gatehouse', 'keys')")
            try await eventuallyLogged("warning")
            try await server.execute("ALTER TABLE elsewhere RENAME TO signing_keys")
            try await eventuallyLogged("It works again")
        }
    }

    private static let lockKeys = Statement(.write, "SELECT kid FROM signing_keys WHERE application_id = 1 FOR UPDATE")

    /// Returns the configuration after a change of the file; sections that need a restart have placeholder values.
    private static func configuration(algorithm: String) throws -> Configuration {
        let yaml = """
            server: { host: 127.0.0.1, port: 0, publicURL: "http://127.0.0.1:1", development: true }
            database: { url: "postgresql:///none" }
            secrets: { masterKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=" }
            rateLimits: off
            defaultApplication: demo
            applications:
              demo:
                audience: demo
                tokens: { algorithm: \(algorithm), rsaBits: 2048 }
                providers: { anonymous: { enabled: true } }
            """
        return try Configuration.parse(yaml, file: "test.yaml", environment: [:], installed: TestServer.providers)
    }

    private func check(_ replicas: Replicas, algorithm: String, change: () async throws -> Void) async throws {
        let (first, second) = replicas.clients
        let (old, oldOfSecond) = (try await first.guest(), try await second.guest())
        let oldHeader = try SigningHeader(old.accessToken)
        #expect(try SigningHeader(oldOfSecond.accessToken) == oldHeader)

        try await change()
        let new = try await first.guest()
        let newHeader = try SigningHeader(new.accessToken)
        #expect(newHeader.kid != oldHeader.kid)
        #expect(newHeader.alg == algorithm)
        let elapsed = try await eventually("the second replica signs with the new key") {
            try SigningHeader(try await second.guest().accessToken) == newHeader
        }
        print("\(algorithm): the other replica signs with the new key after \(elapsed.milliseconds) ms")
        #expect(elapsed < .seconds(3))

        for client in [first, second] {
            #expect(try await client.publishedKeys().isSuperset(of: [oldHeader.kid, newHeader.kid]))
            for guest in [old, oldOfSecond, new] {
                #expect(try await client.status(of: guest.accessToken) == 200)
            }
        }
    }
}

/// The header of a decoded token.
struct SigningHeader: Decodable, Equatable {
    let kid: String
    let alg: String

    init(_ token: String) throws {
        let part = token.prefix { $0 != "." }.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - part.count % 4) % 4)
        self = try JSONDecoder().decode(Self.self, from: try #require(Data(base64Encoded: part + padding)))
    }
}

extension APIClient {
    /// Returns the `kid`s of the JWK Set.
    func publishedKeys() async throws -> Set<String> {
        let keys = try await send(.GET, "/.well-known/jwks.json")["keys"].array ?? []
        return Set(keys.compactMap { $0["kid"].string })
    }
}
