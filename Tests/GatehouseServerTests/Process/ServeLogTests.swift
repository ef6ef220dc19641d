import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The log of `gatehouse serve` contains no personal data.
@Suite struct ServeLogTests {
    /// Secrets and personal data that are collected during the test.
    private struct Secrets {
        private(set) var all: Set<String> = []

        mutating func add(_ texts: String?...) {
            all.formUnion(texts.compactMap(\.self))
        }
    }

    @Test func eachLineIsAnObjectThatGivesNothingAway() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        let (person, resetToken) = try await TestServer.with(database: database) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let verification = try await client.mailedToken(to: person.email, at: server)
            _ = try await client.post("/auth/forgot-password", ["email": .string(person.email)])
            return (person, try await client.mailedToken(to: person.email, at: server, other: [verification]))
        }
        // The relay does not exist, so that failed deliveries are logged too.
        var file = ServerFile(database: database)
        let relay = "smtp://127.0.0.1:\(try Port.free())"
        file.delivery = "delivery: { email: { from: 'no-reply@demo.example', smtp: '\(relay)' } }"
        try await ProcessDirectory.with { directory in
            try await file.serve(in: directory) { process, client in
                var secrets = Secrets()
                secrets.add(person.email, person.password, person.accessToken, person.refreshToken, resetToken)
                try await session(of: person, resetToken: resetToken, with: client, &secrets)
                try await eventually("the failing relay is told of") { process.errors.contains("Message not sent yet") }
                #expect(try await process.end(by: SIGTERM) == 0)
                #expect(process.output == "")
                let lines = process.errorLines
                #expect(lines.count > 2)
                for line in lines { _ = try LogLine(line) }
                for secret in secrets.all {
                    #expect(!process.errors.contains(secret), "\(secret)")
                }
                let noisy = try lines.map { try LogLine($0) }.filter { $0.level == "error" || $0.level == "critical" }
                #expect(noisy.map(\.message) == [])
            }
        }
    }

    /// Successful and failing calls of one person's session.
    private func session(
        of person: Person, resetToken: String, with client: APIClient, _ secrets: inout Secrets
    ) async throws {
        let login = try await client.login(person.email)
        #expect(login.status == 200)
        secrets.add(login["accessToken"].string, login["refreshToken"].string)
        let refreshed = try await client.refresh(try #require(login["refreshToken"].string))
        #expect(refreshed.status == 200)
        secrets.add(refreshed["accessToken"].string, refreshed["refreshToken"].string)

        let (newcomer, newPassword) = (APIClient.newAddress(), "a brand new battery staple")
        secrets.add(newcomer, newPassword)
        let wrong = "a wrong battery staple"
        secrets.add(wrong)
        #expect(try await client.login(person.email, wrong).status == 401)
        let registered = try await client.post(
            "/auth/register", ["email": .string(newcomer), "password": .string(newPassword)])
        #expect(registered.status == 201)
        let reset = try await client.post(
            "/auth/reset-password", ["token": .string(resetToken), "newPassword": .string(newPassword)])
        #expect(reset.status == 204)
        #expect(try await client.post("/auth/forgot-password", ["email": .string(newcomer)]).status == 202)
        #expect(try await client.login(person.email, newPassword).status == 200)

        #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 401)
        #expect(try await client.refresh(person.refreshToken).status == 401)
        #expect(try await client.get("/auth/me", bearer: "not.a.token").status == 401)
        let malformed = Array(#"{"email": "\#(person.email)", "password": "#.utf8)
        #expect(try await client.send(.POST, "/api/v1/auth/login", raw: malformed).status == 400)
        #expect(try await client.send(.GET, "/api/v1/\(resetToken)").status == 404)
        let guest = try await client.guest()
        secrets.add(guest.accessToken, guest.refreshToken)
        let deleted = try await client.delete("/auth/account", bearer: guest.accessToken)
        #expect(deleted.status == 204)
        secrets.add(deleted.headers.first(name: "location")?.split(separator: "/").last.map(String.init))
    }
}
