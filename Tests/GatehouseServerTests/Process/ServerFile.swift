import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The configuration file of a server; a test may replace each part by an invalid one.
struct ServerFile {
    static let masterKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    var port = 0
    var server = "development: true"
    var database: String
    var masterKey = Self.masterKey
    var passwords = TestServer.quickArgon2
    var delivery = ""
    /// The mode of the provider `email`.
    var emailMode = "open"
    /// Further entries of `providers`.
    var providers = ""
    /// Further entries of the application.
    var application = ""
    /// Further applications, indented like `TestServer.photos`.
    var others = ""

    var text: String {
        """
        server: { host: 127.0.0.1, port: \(port), publicURL: "http://127.0.0.1:1", \(server) }
        database: { url: "\(database)", connections: 8 }
        secrets: { masterKey: "\(masterKey)" }
        passwords: { \(passwords) }
        network: { allowPrivateHosts: true }
        rateLimits: off
        \(delivery)
        defaultApplication: demo
        applications:
          demo:
            audience: demo
            origins: ["http://localhost:3000"]
            tokens: { algorithm: ES256 }
            \(application.replacing("\n", with: "\n    "))
            providers:
              anonymous: { enabled: true }
              email: { mode: \(emailMode), verificationLink: "https://demo.example/verify" }
              \(providers)
        \(others)
        """
    }

    /// Runs `gatehouse serve` until the body returns, with a client of its address.
    func serve<Output>(
        in directory: ProcessDirectory, scheme: String = "http",
        _ body: (GatehouseProcess, APIClient) async throws -> Output
    ) async throws -> Output {
        try directory.write(text, to: "gatehouse.yaml")
        return try await GatehouseProcess.with(["serve", "--config", "gatehouse.yaml"], in: directory) { process in
            try await eventually("the server serves") {
                try #require(process.isRunning, "\(process.errors)")
                return process.servedPort != nil
            }
            let port = try #require(process.servedPort)
            return try await body(process, APIClient(url: "\(scheme)://127.0.0.1:\(port)"))
        }
    }

    /// Runs a command with this file as its configuration.
    func run(
        _ arguments: [String], program: String = GatehouseProcess.executable, in directory: ProcessDirectory
    ) async throws -> GatehouseProcess.Outcome {
        try directory.write(text, to: "gatehouse.yaml")
        return try await GatehouseProcess.run(
            arguments + ["--config", "gatehouse.yaml"], program: program, in: directory)
    }
}

/// A parsed line of the log of `serve`.
struct LogLine: Decodable {
    let time: String
    let level: String
    let label: String
    let message: String
    let metadata: [String: String]?

    init(_ line: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
    }
}

extension GatehouseProcess {
    /// The line that `serve` logs when its port is open.
    fileprivate var servedPort: Int? { port(in: "serving") }

    /// The port that a log line names, once it is written.
    func port(in message: String) -> Int? {
        errorLines.lazy.compactMap { try? LogLine($0) }.first { $0.message == message }?
            .metadata?["port"].flatMap(Int.init)
    }
}
