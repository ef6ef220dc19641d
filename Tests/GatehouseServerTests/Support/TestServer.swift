import AnonymousProvider
import Delivery
import EmailProvider
import Foundation
import GatehouseTesting
import Logging
import Migrations
import Postgres
import ProviderKit

@testable import GatehouseServer

/// A whole server on a free port and a database of its own, in this process.
struct TestServer: Sendable {
    let url: String
    let inbox: DevelopmentInbox
    let backend: Backend
    let server: RunningServer

    static let providers: [any Provider.Type] = [AnonymousProvider.self, EmailProvider.self]

    /// Hashing at full strength would make the tests crawl; what is tested here does not depend on it.
    static let quickArgon2 = "argon2: { memoryKiB: 256, iterations: 1, parallelism: 1 }"

    /// Runs the body against a server.
    /// - Parameters:
    ///   - database: an existing one, for a second replica.
    ///   - server: further keys of `server:`.
    ///   - application: further keys of the application `demo`.
    static func with<Result: Sendable>(
        database: String? = nil, server serverKeys: String = "development: true", application: String = "",
        others: String = "", passwords: String = quickArgon2,
        _ body: @Sendable @escaping (TestServer) async throws -> Result
    ) async throws -> Result {
        let databaseURL: String
        if let database {
            databaseURL = database
        } else {
            databaseURL = try await TemporaryPostgres.database(migrations: Migrations.all)
        }
        let yaml = """
            server: { host: 127.0.0.1, port: 0, publicURL: "http://127.0.0.1:1", \(serverKeys) }
            database: { url: "${DATABASE_URL}", connections: 8 }
            secrets: { masterKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=" }
            passwords: { \(passwords) }
            rateLimits: off
            defaultApplication: demo
            applications:
              demo:
                audience: demo
                origins: ["http://localhost:3000"]
                \(application)
                tokens: { algorithm: ES256 }
                providers:
                  anonymous: { enabled: true }
                  email: { enabled: true, verificationLink: "https://demo.example/verify" }
            \(others)
            """
        return try await Installation.$providers.withValue(providers) {
            let configuration = try Configuration.parse(
                yaml, file: "test.yaml", environment: ["DATABASE_URL": databaseURL], installed: providers)
            var logger = Logger(label: "test")
            logger.logLevel = .error
            return try await Backend.with(configuration, logger: logger, schema: .migrated) { backend in
                let inbox = DevelopmentInbox()
                let server = try await RunningServer(backend, inbox: inbox)
                let (ports, port) = AsyncStream.makeStream(of: Int.self)
                return try await withThrowingTaskGroup(of: Result?.self) { group in
                    group.addTask {
                        try await server.run(reload: nil, signals: []) { port.yield($0) }
                        return nil
                    }
                    group.addTask {
                        for await port in ports {
                            return try await body(
                                TestServer(
                                    url: "http://127.0.0.1:\(port)", inbox: inbox, backend: backend, server: server))
                        }
                        return nil
                    }
                    for try await result in group {
                        guard let result else { continue }
                        group.cancelAll()
                        return result
                    }
                    throw CancellationError()
                }
            }
        }
    }
}
