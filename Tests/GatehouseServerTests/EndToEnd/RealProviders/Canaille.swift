import Foundation
import ProviderKit
import Testing

/// `canaille`, an identity server for small organisations, in which `jo` has an account and Gatehouse is a client that
/// requires consent.
struct Canaille: Sendable {
    static let password = "correct horse 9"

    let provider: RealProvider

    static func with<Output>(_ body: (Canaille) async throws -> Output) async throws -> Output {
        let programs = try await PythonPrograms.ready()
        return try await ProcessDirectory.with { home in
            let port = try Port.free()
            let setup = Setup(program: programs.path("canaille"), python: programs.python, home: home)
            try await setup.configure(port: port)
            try await setup.fill()
            // Started without workers, because they would survive the process if it is killed.
            let arguments = [setup.program, "run", "--workers", "0", "--bind", "127.0.0.1:\(port)"]
            return try await RealProvider.with(arguments, of: programs, port: port, in: home) { provider in
                try await body(Canaille(provider: provider))
            }
        }
    }

    private struct Setup {
        let program: String
        let python: String
        let home: ProcessDirectory

        func configure(port: Int) async throws {
            let key = try JSONDecoder().decode(
                JSONValue.self, from: Data(try await run(["jwk", "create", "rsa"]).utf8))
            let members = (key.object ?? [:]).compactMapValues(\.string).map { "\($0.key) = \"\($0.value)\"" }
            // The program looks for this file name in its working directory.
            try home.write(
                """
                SECRET_KEY = "\(UUID().uuidString)"
                SERVER_NAME = "127.0.0.1:\(port)"
                PREFERRED_URL_SCHEME = "http"
                [CANAILLE]
                JAVASCRIPT = false
                [CANAILLE_SQL]
                DATABASE_URI = "sqlite:///\(home.path("canaille.db"))"
                [CANAILLE_OIDC]
                ACTIVE_JWKS = [{\(members.joined(separator: ", "))}]
                """, to: "canaille.toml")
        }

        func fill() async throws {
            try await run(["install"])
            try await run(
                ["create", "user", "--quiet"],
                [
                    "user-name": "jo", "password": password, "emails": "jo@example.com", "given-name": "Jo",
                    "family-name": "Doe", "formatted-name": "Jo Doe",
                ])
            // The client's URI is not local, because a client on this machine would be trusted without consent.
            try await run(
                ["create", "client", "--quiet"],
                [
                    "client-id": "client", "client-secret": "secret", "client-name": "Gatehouse",
                    "client-uri": "https://id.example", "redirect-uris": RealProvider.callback("canaille"),
                    "grant-types": "authorization_code", "response-types": "code", "scope": "openid",
                    "scope": "email", "scope": "profile", "token-endpoint-auth-method": "client_secret_basic",
                ])
            // The client can only be its own audience once it exists.
            try await run(["set", "client", "client"], ["audience": "client"])
        }

        @discardableResult
        private func run(
            _ command: [String], _ options: KeyValuePairs<String, String> = [:]
        ) async throws -> String {
            let arguments = [program] + command + options.flatMap { ["--\($0.key)", $0.value] }
            let outcome = try await GatehouseProcess.run(arguments, program: python, in: home)
            try #require(outcome.status == 0, "\(command): \(outcome.errorLines.joined(separator: "\n"))")
            return outcome.output
        }
    }
}

extension Browser {
    /// Submits the two pages that ask for the name and the password.
    mutating func logIn(as name: String, password: String = Canaille.password) async throws {
        try await submit(["login": name])
        #expect(url.path == "/auth/password")
        try await submit(["password": password])
    }
}
