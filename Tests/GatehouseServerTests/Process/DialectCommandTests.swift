import Foundation
import GatehouseTesting
import Migrations
import OpenID
import Testing

@testable import HTTPAPI

/// `gatehouse dialect check`, and the paths that `gatehouse config check` prints.
struct DialectCommandTests {
    private static let application = """
        openid: {}
        redirectURIs: [{ uri: "\(TimeTrackerApp.redirectURI)", pkce: false }, "\(ImmichApp.redirectURI)"]
        dialects:
          timetracker: { provider: hosted }
          immich: { provider: hosted, version: "1.119.0", redirectURI: "\(ImmichApp.redirectURI)" }
        """

    @Test func `a server whose dialects are on is like the apps expect`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await ProcessDirectory.with { directory in
            var file = ServerFile(database: database)
            file.application = Self.application
            try await file.serve(in: directory) { _, client in
                for dialect in ["timetracker", "immich"] {
                    let outcome = try await GatehouseProcess.run(
                        ["dialect", "check", dialect, "--url", client.url + "/"], in: directory)
                    #expect(outcome.status == 0, "\(outcome.output) \(outcome.errorLines)")
                    let lines = outcome.output.split(separator: "\n")
                    #expect(lines.count >= 6 && lines.allSatisfy { $0.hasSuffix("  ok") }, "\(outcome.output)")
                    guard dialect == "immich" else { continue }
                    for call in Self.immichCalls { #expect(lines.contains("\(call)  ok"), "\(call)") }
                }
            }
        }
    }

    private static let immichCalls = [
        "GET /.well-known/immich", "GET /api/server/ping", "GET /api/server/version", "GET /api/server/config",
        "GET /api/server/features", "POST /api/auth/login", "GET /api/oauth/authorize", "POST /api/oauth/authorize",
        "POST /api/oauth/callback", "GET /api/users/me", "PUT /api/users/me", "POST /api/auth/validateToken",
        "GET /api/auth/status", "PUT /api/auth/change-password", "POST /api/auth/change-password",
        "POST /api/auth/logout", "PUT /api/auth/pin-code", "POST /api/auth/pin-code", "DELETE /api/auth/pin-code",
        "POST /api/auth/pin-code/verify", "POST /api/auth/session/unlock", "POST /api/auth/session/lock",
    ]

    @Test func `calls of features that are off are not made`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await ProcessDirectory.with { directory in
            var file = ServerFile(database: database)
            file.application = """
                redirectURIs: ["\(ImmichApp.redirectURI)"]
                dialects: { immich: { passwords: false, version: "1.119.0" } }
                """
            try await file.serve(in: directory) { _, client in
                let outcome = try await GatehouseProcess.run(
                    ["dialect", "check", "immich", "--url", client.url], in: directory)
                #expect(outcome.status == 0, "\(outcome.output) \(outcome.errorLines)")
                let lines = outcome.output.split(separator: "\n").filter { !$0.hasSuffix("  ok") }
                #expect(
                    lines == [
                        "POST /api/auth/login  not made: the server says that passwordLogin is off",
                        "GET /api/oauth/authorize  not made: the server says that oauth is off",
                        "POST /api/oauth/authorize  not made: the server says that oauth is off",
                    ], "\(outcome.output)")
            }
        }
    }

    @Test func `what differs is listed, and the command fails`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await ProcessDirectory.with { directory in
            try await ServerFile(database: database).serve(in: directory) { _, client in
                let outcome = try await GatehouseProcess.run(
                    ["dialect", "check", "timetracker", "--url", client.url], in: directory)
                #expect(outcome.status == 1)
                #expect(outcome.output.contains("GET /auth/me  differs: the status is 404, not 401"))
                #expect(
                    outcome.errorLines == ["gatehouse: the apps of timetracker would not understand 6 of 6 answers"])
            }
            let unreachable = try await GatehouseProcess.run(
                ["dialect", "check", "timetracker", "--url", "http://127.0.0.1:1"], in: directory)
            #expect(unreachable.status == 1 && unreachable.output.contains("there is no answer"))
        }
    }

    @Test func `config check prints the paths for a proxy`() async throws {
        try await ProcessDirectory.with { directory in
            var file = ServerFile(database: "postgresql://gatehouse@127.0.0.1/gatehouse")
            file.application = Self.application
            let outcome = try await file.run(["config", "check"], in: directory)
            #expect(outcome.status == 0, "\(outcome.errorLines)")
            #expect(outcome.output.contains("demo, timetracker: pass on /auth/* /api/v1/* /signin* "))
            #expect(outcome.output.contains("demo, immich: pass on /.well-known/immich /api/auth/*"))
            #expect(outcome.output.contains("/api/server/version"))
            for line in outcome.output.split(separator: "\n").filter({ $0.contains(": pass on ") }) {
                let patterns = line.split(separator: " ").filter { $0.hasPrefix("/") }
                for path in MailedLinks.Purpose.allCases.map({ "/\($0.rawValue)" }) + [StepRoutes.logo] {
                    let isPassedOn = patterns.contains { pattern in
                        pattern.hasSuffix("*") ? path.hasPrefix(pattern.dropLast()) : path == pattern
                    }
                    #expect(isPassedOn, "\(path) is not in \(line)")
                }
            }
            file.application = Self.application.replacing("version: \"1.119.0\", ", with: "")
            let unversioned = try await file.run(["config", "check"], in: directory)
            #expect(unversioned.status == 0, "\(unversioned.errorLines)")
            #expect(unversioned.output.contains("/api/server/ping /api/server/config /api/server/features"))
            #expect(!unversioned.output.contains("/api/server/version"), "the back end answers it")
        }
    }
}
