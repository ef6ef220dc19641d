import Accounts
import Administration
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Signing in with a password, and the lock after repeated failures.
struct PasswordLoginTests {
    @Test func `every wrong login gets one answer`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pending = APIClient.newAddress()
            _ = try await client.pend(at: server, pending)
            let unknown = try await client.login(APIClient.newAddress(), "wrong password")
            for email in [person.email, pending] {
                let answer = try await client.login(email, "wrong password")
                expectError(answer, 401, "INVALID_CREDENTIALS", email)
                #expect(answer.json == unknown.json)
            }
        }
    }

    @Test func `ten failures lock an address, known or not, and the lock doubles`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for email in [person.email, APIClient.newAddress()] {
                for _ in 1...10 {
                    expectError(try await client.login(email, "wrong password"), 401, "INVALID_CREDENTIALS", email)
                }
                for minutes in [1, 2, 4, 8, 15, 15] {
                    let locked = try await client.login(email)
                    expectError(locked, 429, "IDENTITY_TEMPORARILY_LOCKED", email)
                    let wait = try #require(locked.retryAfter)
                    #expect((minutes * 60 - 5...minutes * 60).contains(wait), "\(minutes) min: \(wait)")
                    try await server.unlockAll()
                    expectError(try await client.login(email, "wrong password"), 401, "INVALID_CREDENTIALS", email)
                }
            }
        }
    }

    @Test func `the right password after the lock resets the count of failures`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for _ in 1...10 { _ = try await client.login(person.email, "wrong password") }
            expectError(try await client.login(person.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
            try await server.unlockAll()
            #expect(try await client.login(person.email).status == 200)
            for _ in 1...9 { _ = try await client.login(person.email, "wrong password") }
            #expect(try await client.login(person.email).status == 200)
        }
    }

    @Test func `a lock affects only one address`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let client = APIClient(server)
            let (locked, other) = (try await client.register(at: server), try await client.register(at: server))
            for _ in 1...10 { _ = try await client.login(locked.email.uppercased(), "wrong password") }
            expectError(try await client.login(locked.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
            #expect(try await client.login(other.email).status == 200)
            let elsewhere = try await APIClient(server, application: "photos").login(locked.email)
            expectError(elsewhere, 401, "INVALID_CREDENTIALS")
            #expect(try await client.get("/auth/me", bearer: locked.accessToken).status == 200)
        }
    }

    @Test func `concurrent guesses get no additional attempts`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let answers = try await atOnce(40) { try await client.login(person.email, "wrong password") }
            #expect(answers.allSatisfy { [401, 429].contains($0.status) })
            expectError(try await client.login(person.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
        }
    }

    @Test func `a password change is suggested after an administrator requires it`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            #expect(try await client.login(person.email).json.keys.contains("shouldChangePassword") == false)
            let uid = try #require(UUID(uuidString: person.uid))
            let hasPassword = try await server.acts.requirePasswordChange(
                uid: uid, by: TestServer.operations, in: server.application())
            #expect(hasPassword)
            let login = try await client.login(person.email)
            #expect(login["shouldChangePassword"] == true)
            let bearer = try #require(login["accessToken"].string)
            let changed = try await client.put(
                "/auth/change-password", ["password": .string(APIClient.otherPassword)], bearer: bearer)
            #expect(changed.status == 204, "\(changed.text)")
            let after = try await client.login(person.email, APIClient.otherPassword)
            #expect(after.status == 200 && !after.json.keys.contains("shouldChangePassword"))
        }
    }

    @Test func `a password is hashed again after the parameters change`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let stored: StaticString = "SELECT hash FROM passwords"
            let before = try #require(try await server.text(stored))
            #expect(before.contains("m=256,t=1,p=1"))
            #expect(try await client.login(person.email).status == 200)
            #expect(try await server.text(stored) == before)
            let stronger = "argon2: { memoryKiB: 512, iterations: 2, parallelism: 1 }"
            try await TestServer.with(database: server.databaseURL, passwords: stronger) { second in
                let client = APIClient(second)
                expectError(try await client.login(person.email, "wrong password"), 401, "INVALID_CREDENTIALS")
                #expect(try await second.text(stored) == before)
                let logins = try await atOnce(5) { try await client.login(person.email) }
                #expect(logins.allSatisfy { $0.status == 200 }, "\(logins.map(\.text))")
                #expect(try await second.text(stored)?.contains("m=512,t=2,p=1") == true)
                #expect(try await client.login(person.email).status == 200)
            }
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)
        }
    }

    @Test func `only the right password reveals that an account is disabled`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await server.setDisabled(true, person)
            expectError(try await client.login(person.email), 403, "ACCOUNT_DISABLED")
            expectError(try await client.login(person.email, "wrong password"), 401, "INVALID_CREDENTIALS")
            expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.refresh(person.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            try await server.setDisabled(false, person)
            #expect(try await client.login(person.email).status == 200)
            expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
        }
    }

    @Test func `a provider that is off accepts no passwords`() async throws {
        let photos = """
              photos:
                providers: { anonymous: { enabled: true }, email: { enabled: false } }
            """
        try await TestServer.with(others: photos) { server in
            let client = APIClient(server, application: "photos")
            let body: JSONValue = ["email": "a@example.com", "password": .string(APIClient.password)]
            for path in ["/auth/login", "/auth/register", "/auth/forgot-password"] {
                let answer = try await client.post(path, body)
                expectError(answer, 403, "PROVIDER_DISABLED", path)
                #expect(answer["error"]["details"]["rule"].string != nil)
            }
            expectError(try await client.post("/auth/anonymous", ["provider": "other"]), 404, "UNSUPPORTED_PROVIDER")
        }
    }
}
