import Accounts
import Foundation
import NIOHTTP1
import Passwords
import ProviderKit
import Testing

@testable import GatehouseServer

/// Registrations whose confirmation requires the link together with the registered password.
struct PasswordConfirmationTests {
    private static let strict = "enabled: true, verification: linkWithPassword"

    private func verify(
        _ client: APIClient, _ token: String, _ password: String?, bearer: String? = nil
    ) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = ["token": .string(token)]
        body["password"] = password.map { .string($0) }
        return try await client.post("/auth/verify-email", .object(body), bearer: bearer)
    }

    @Test func `a click on a stranger's registration gives the stranger nothing`() async throws {
        try await TestServer.with(email: Self.strict) { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let token = try await client.pend(at: server, email)
            for password in [nil, "", APIClient.otherPassword] {
                let done = server.server.hashing.statistics.done
                expectError(try await verify(client, token, password), 401, "INVALID_CREDENTIALS", "\(password ?? "-")")
                #expect(server.server.hashing.statistics.done == done + (password == nil ? 0 : 1))
            }
            expectError(try await client.login(email), 403, "UNVERIFIED_IDENTITY")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
            let opened = try await verify(client, token, APIClient.password)
            #expect(opened.status == 200 && opened["user"]["email"].string == email, "\(opened.text)")
            #expect(try await client.login(email).status == 200)
            expectError(try await verify(client, token, APIClient.password), 401, "INVALID_TOKEN")
        }
    }

    @Test func `wrong passwords count towards the lock, right ones end the count`() async throws {
        try await TestServer.with(email: Self.strict) { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let token = try await client.pend(at: server, email)
            for _ in 0..<10 { _ = try await verify(client, token, "wrong") }
            expectError(try await verify(client, token, APIClient.password), 429, "IDENTITY_TEMPORARILY_LOCKED")
            expectError(try await client.login(email), 429, "IDENTITY_TEMPORARILY_LOCKED")
            try await server.unlockAll()
            #expect(try await verify(client, token, APIClient.password).status == 200)
            #expect(try await server.count("SELECT count(*) FROM password_failures") == 0)
        }
    }

    @Test func `passwords beside a link share the limit of logins`() async throws {
        try await TestServer.with(email: Self.strict, rateLimits: "{ login: 2/min }") { server in
            let client = APIClient(server)
            let token = try await client.pend(at: server, APIClient.newAddress())
            for _ in 0..<3 { expectError(try await verify(client, token, nil), 401, "INVALID_CREDENTIALS") }
            for _ in 0..<2 { expectError(try await verify(client, token, "wrong"), 401, "INVALID_CREDENTIALS") }
            expectError(try await verify(client, token, "wrong"), 429, "RATE_LIMITED")
        }
    }

    @Test func `a replaced registration's link has no password any more`() async throws {
        try await TestServer.with(email: Self.strict) { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let first = try await client.pend(at: server, email)
            let second = try await client.pend(at: server, email, password: APIClient.otherPassword, other: [first])
            expectError(try await verify(client, first, APIClient.password), 401, "INVALID_TOKEN")
            expectError(try await verify(client, first, APIClient.otherPassword), 401, "INVALID_TOKEN")
            #expect(try await verify(client, second, APIClient.otherPassword).status == 200)
        }
    }

    @Test func `a password is checked even if it is not required`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let token = try await client.pend(at: server, APIClient.newAddress())
            expectError(try await verify(client, token, "wrong"), 401, "INVALID_CREDENTIALS")
            #expect(try await verify(client, token, nil).status == 200)
        }
    }

    @Test func `a registration that joins an account needs only its bearer`() async throws {
        try await TestServer.with(providers: "scripted: {}", email: Self.strict) { server in
            let client = APIClient(server)
            let person = try await client.newcomer("ada")
            let email = APIClient.newAddress()
            let asked = try await client.post(
                "/auth/identities/email", ["email": .string(email), "password": .string(APIClient.password)],
                bearer: person.accessToken)
            #expect(asked.status == 202, "\(asked.text)")
            let token = try await client.mailedToken(to: email, at: server)
            expectError(try await verify(client, token, nil), 401, "INVALID_TOKEN")
            #expect(try await verify(client, token, nil, bearer: person.accessToken).status == 200)
        }
    }
}
