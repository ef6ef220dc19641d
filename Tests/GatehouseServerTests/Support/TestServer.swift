import AnonymousProvider
import AppleProvider
import CustomTokenProvider
import Delivery
import EmailProvider
import Foundation
import GatehouseTesting
import Logging
import Migrations
import MobileNetworkProvider
import OpenIDConnectProvider
import Passwords
import PhoneProvider
import Postgres
import ProviderKit
import ServiceLifecycle
import Synchronization

@testable import GatehouseServer

/// A complete server in this process, on a free port and with its own database.
struct TestServer: Sendable {
    let url: String
    let inbox: DevelopmentInbox
    let backend: Backend
    let server: RunningServer
    /// The URL of the database, from which a test can start a second replica.
    let databaseURL: String

    /// New instances for each call, so that no two servers share the providers' caches.
    static var providers: InstalledProviders {
        InstalledProviders(
            [
                AnonymousProvider.self, EmailProvider.self, AppleProvider.self, OpenIDConnectProvider.self,
                OAuth2Provider.self, CustomTokenProvider.self, MobileNetworkProvider.self, PhoneProvider.self,
                ScriptedProvider.self,
            ], ports: UpstreamPorts())
    }

    /// Weak Argon2 parameters that keep the tests fast; no test depends on the strength.
    static let quickArgon2 = "argon2: { memoryKiB: 256, iterations: 1, parallelism: 1 }"

    /// A second application, which shares nothing but the server with `demo`.
    static let photos = """
          photos:
            hosts: [photos.example]
            audience: photos-app
            origins: ["https://photos.example"]
            tokens: { algorithm: ES256 }
            providers:
              anonymous: { enabled: true }
              email: { enabled: true, verificationLink: "https://photos.example/verify?from=mail" }
        """

    /// How long a server waits for the machine and the database.
    enum Patience {
        /// Much longer than any test takes, so that a slow machine causes no refusal.
        case unlimited
        /// As in production, for tests of what happens after that time.
        case limited
    }

    /// Runs the body against a server.
    ///
    /// `database` is the URL of an existing database, for a second replica. A `port` makes the server reachable at its
    /// `publicURL`, which is otherwise a URL that nothing serves; `path` is the path of that URL. `server`,
    /// `application` and `providers` are further keys of `server:`, of the application `demo` and of its providers.
    /// `others` are further applications, indented like `photos`. `origin` is that of the app's pages, and `admin` the
    /// section of that name.
    static func with<Output: Sendable>(
        database: String? = nil, port: Int? = nil, path: String = "", server serverKeys: String = "development: true",
        application: String = "",
        providers: String = "", others: String = "", passwords: String = quickArgon2,
        tokens: String = "algorithm: ES256", origin: String = "http://localhost:3000",
        email: String = "enabled: true", rateLimits: String = "off",
        webhooks: String = "[]", network: String = "allowPrivateHosts: true", admin: String? = nil,
        connections: Int = 8, transferDeadline: Duration = .seconds(30),
        patience: Patience = .unlimited, logger: Logger = silence,
        _ body: @Sendable @escaping (TestServer) async throws -> Output
    ) async throws -> Output {
        let yaml = yaml(
            port: port, path: path, server: serverKeys, application: application, providers: providers, others: others,
            passwords: passwords,
            tokens: tokens, origin: origin, email: email, rateLimits: rateLimits, webhooks: webhooks,
            network: network, admin: admin, connections: connections)
        // A replica uses the place that the first server of its test already holds.
        if let database {
            return try await run(yaml, database, transferDeadline: transferDeadline, patience, logger: logger, body)
        }
        return try await ServerPlaces.shared.withPlace {
            try await TemporaryPostgres.withDatabase(migrations: Migrations.all) { database in
                try await run(yaml, database, transferDeadline: transferDeadline, patience, logger: logger, body)
            }
        }
    }

    static var silence: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    static func yaml(
        port: Int? = nil, path: String = "", server: String = "development: true", application: String = "",
        providers: String = "", others: String = "",
        passwords: String = quickArgon2, tokens: String = "algorithm: ES256", origin: String = "http://localhost:3000",
        email: String = "enabled: true", rateLimits: String = "off", webhooks: String = "[]",
        network: String = "allowPrivateHosts: true", admin: String? = nil, connections: Int = 8
    ) -> String {
        """
        server: { host: 127.0.0.1, port: \(port ?? 0), publicURL: "http://127.0.0.1:\(port ?? 1)\(path)", \(server) }
        database: { url: "${DATABASE_URL}", connections: \(connections) }
        secrets: { masterKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=" }
        network: { \(network) }
        passwords: { \(passwords) }
        rateLimits: \(rateLimits)
        webhooks: \(webhooks)
        \(admin.map { "admin: \($0)" } ?? "")
        defaultApplication: demo
        applications:
          demo:
            audience: demo
            origins: ["\(origin)"]
            \(application.replacing("\n", with: "\n    "))
            tokens: { \(tokens) }
            providers:
              anonymous: { enabled: true }
              email: { \(email), verificationLink: "https://demo.example/verify" }
              \(providers.replacing("\n", with: "\n      "))
        \(others)
        """
    }

    private static func run<Output: Sendable>(
        _ yaml: String, _ database: String, transferDeadline: Duration, _ patience: Patience, logger: Logger,
        _ body: @Sendable @escaping (TestServer) async throws -> Output
    ) async throws -> Output {
        let providers = providers
        let configuration = try Configuration.parse(
            yaml, file: "test.yaml", environment: ["DATABASE_URL": database], installed: providers)
        return try await Backend.with(
            configuration, logger: logger, schema: .migrated,
            connections: patience.connections(of: configuration.database)
        ) { backend in
            let inbox = DevelopmentInbox()
            let server = try await RunningServer(
                backend, installed: providers, inbox: inbox, hashing: patience.hashingPool())
            let serving = Serving(server: server, transferDeadline: transferDeadline)
            let testing = Testing { port in
                try await body(
                    TestServer(
                        url: "http://127.0.0.1:\(port)", inbox: inbox, backend: backend, server: serving.server,
                        databaseURL: database))
            } ports: {
                serving.ports
            }
            // Without a name, a service would be described with all its properties, which takes a second.
            let group = ServiceGroup(
                configuration: .init(
                    services: [
                        .init(service: serving, failureTerminationBehavior: .cancelGroup, serviceName: "server"),
                        .init(
                            service: testing, successTerminationBehavior: .gracefullyShutdownGroup,
                            failureTerminationBehavior: .gracefullyShutdownGroup, serviceName: "test"),
                    ], logger: logger))
            try await group.run()
            return try testing.result()
        }
    }
}

extension TestServer.Patience {
    fileprivate func connections(of configuration: Configuration.Database) -> Database.Configuration {
        var connections = configuration.postgres
        if self == .unlimited {
            connections.deadline = .seconds(60)
            connections.statementTimeout = .seconds(50)
            connections.transactionStatementTimeout = .seconds(50)
            connections.lockTimeout = .seconds(40)
            connections.transactionIdleTimeout = .seconds(120)
            connections.leaseTimeout = .seconds(60)
            connections.probeTimeout = .seconds(30)
        }
        return connections
    }

    fileprivate func hashingPool() -> HashingPool {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        switch self {
        case .limited: return HashingPool(cores: cores)
        case .unlimited:
            return HashingPool(threads: HashingPool.threads(onCores: cores), limits: .init(wait: .seconds(600)))
        }
    }
}

/// Runs the server until the test ends.
private struct Serving: Service {
    let server: RunningServer
    let transferDeadline: Duration
    let ports: AsyncStream<Int>
    private let port: AsyncStream<Int>.Continuation

    init(server: RunningServer, transferDeadline: Duration) {
        self.server = server
        self.transferDeadline = transferDeadline
        (ports, port) = AsyncStream.makeStream(of: Int.self)
    }

    func run() async throws {
        defer { port.finish() }
        try await server.run(reload: nil, signals: [], transferDeadline: transferDeadline) { port.yield($0) }
    }
}

/// Runs the test; when it returns, the service group shuts down as it would on a signal.
private final class Testing<Value: Sendable>: Service {
    private let body: @Sendable (Int) async throws -> Value
    private let ports: @Sendable () -> AsyncStream<Int>
    private let outcome = Mutex<Result<Value, any Error>?>(nil)

    init(_ body: @escaping @Sendable (Int) async throws -> Value, ports: @escaping @Sendable () -> AsyncStream<Int>) {
        self.body = body
        self.ports = ports
    }

    func run() async throws {
        for await port in ports() {
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(port))
            } catch {
                result = .failure(error)
            }
            outcome.withLock { $0 = result }
            return
        }
    }

    func result() throws -> Value {
        guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}

/// Limits the number of servers at a time: tests run concurrently, and PostgreSQL's connections would run out.
private actor ServerPlaces {
    static let shared = ServerPlaces()

    private var free = 6
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated func withPlace<Output: Sendable>(_ body: () async throws -> Output) async throws -> Output {
        await take()
        do {
            let result = try await body()
            await give()
            return result
        } catch {
            await give()
            throw error
        }
    }

    private func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func give() {
        guard !waiting.isEmpty else {
            free += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
