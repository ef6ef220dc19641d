import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Registering an address and confirming it.
struct PasswordRegistrationTests {
    private func register(
        _ client: APIClient, _ email: String, _ password: String = APIClient.password, displayName: JSONValue = .null
    ) async throws -> APIClient.Answer {
        try await client.post(
            "/auth/register", ["email": .string(email), "password": .string(password), "displayName": displayName])
    }

    @Test func `a taken address gets the same answer and its owner a notice`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let owner = try await client.register(at: server)
            let free = APIClient.newAddress()
            let onFree = try await register(client, free, APIClient.otherPassword)
            let onTaken = try await register(client, owner.email, APIClient.otherPassword)
            for answer in [onFree, onTaken] {
                #expect(answer.status == 201 && answer.json.keys == ["message", "email"], "\(answer.text)")
            }
            #expect(onFree["message"] == onTaken["message"])
            #expect(onFree["email"].string == free && onTaken["email"].string == owner.email)
            let volatile: Set<String> = ["date", "x-request-id", "content-length"]
            func fields(_ answer: APIClient.Answer) -> [String] {
                answer.headers.filter { !volatile.contains($0.name.lowercased()) }.map { "\($0.name): \($0.value)" }
            }
            #expect(fields(onFree) == fields(onTaken))
            let notice = try await client.mails(to: owner.email, at: server, count: 2)[0]
            #expect(notice.subject?.contains("already have an account") == true && !notice.text.contains("token="))
        }
    }

    @Test func `a pending password is unverified, both for a free and for a taken address`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let owner = try await client.register(at: server)
            let free = APIClient.newAddress()
            for address in [free, owner.email] {
                _ = try await register(client, address, APIClient.otherPassword)
                let pending = try await client.login(address, APIClient.otherPassword)
                expectError(pending, 403, "UNVERIFIED_IDENTITY", address)
                expectError(
                    try await client.login(address, APIClient.thirdPassword), 401, "INVALID_CREDENTIALS", address)
            }
            #expect(try await client.login(owner.email).status == 200)
            expectError(try await client.login(owner.email, APIClient.otherPassword), 403, "UNVERIFIED_IDENTITY")
        }
    }

    @Test func `a later registration ends the earlier token and activates only its own password`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let first = try await client.pend(at: server, email)
            let second = try await client.pend(at: server, email, password: APIClient.otherPassword, other: [first])
            expectError(try await client.login(email), 401, "INVALID_CREDENTIALS")
            expectError(try await client.verify(first), 401, "INVALID_TOKEN")
            #expect(try await client.verify(second).status == 200)
            expectError(try await client.login(email), 401, "INVALID_CREDENTIALS")
            #expect(try await client.login(email, APIClient.otherPassword).status == 200)
        }
    }

    @Test func `only one of many concurrent confirmations opens the account`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let token = try await client.pend(at: server, email)
            let answers = try await atOnce(20) { try await client.verify(token) }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 19)
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
            expectError(try await client.verify(token), 401, "INVALID_TOKEN")
        }
    }

    @Test func `many parallel registrations of an address leave one token that works`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let answers = try await atOnce(8) { try await register(client, email) }
            #expect(answers.allSatisfy { $0.status == 201 })
            let mails = try await client.mails(to: email, at: server, count: 8)
            let tokens = mails.compactMap {
                $0.text.firstMatch(of: /token=([A-Za-z0-9_-]+)/).map { String($0.output.1) }
            }
            var verified = 0
            for token in Set(tokens) where try await client.verify(token).status == 200 { verified += 1 }
            #expect(tokens.count == 8 && verified == 1)
        }
    }

    @Test func `a token that is not a registration's is refused`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let reset = try await client.forget(at: server, person.email)
            for text in ["", "x", String(repeating: "A", count: 43), person.refreshToken, person.accessToken, reset] {
                expectError(try await client.verify(text), 401, "INVALID_TOKEN", text)
            }
            #expect(try await client.reset(reset, to: APIClient.otherPassword).status == 204)
            let pending = try await client.pend(at: server, APIClient.newAddress())
            expectError(try await client.reset(pending, to: APIClient.otherPassword), 401, "INVALID_TOKEN")
            try await server.execute("UPDATE proofs SET expires_at = now() - interval '1 second'")
            expectError(try await client.verify(pending), 401, "INVALID_TOKEN", "expired")
        }
    }

    @Test func `opening a mailed link does not consume its token`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let token = try await client.pend(at: server, email)
            for path in ["/verify-email?token=\(token)", "/reset-password?token=\(token)"] {
                #expect(try await client.send(.GET, path).status == 303)
                #expect(try await client.send(.HEAD, path).status == 303)
            }
            expectError(
                try await client.send(.GET, "/api/v1/auth/verify-email?token=\(token)"), 405, "METHOD_NOT_ALLOWED")
            #expect(try await client.verify(token).status == 200)
            let reset = try await client.forget(at: server, email)
            _ = try await client.send(.GET, "/reset-password?token=\(reset)")
            expectError(
                try await client.send(.GET, "/api/v1/auth/reset-password?token=\(reset)"), 405, "METHOD_NOT_ALLOWED")
            #expect(try await client.reset(reset, to: APIClient.otherPassword).status == 204)
        }
    }

    @Test func `e-mail address and password are both needed`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let bodies: [JSONValue] = [
                [:], ["email": "a@example.com"], ["password": "x"], ["email": "", "password": "x"],
                ["email": "a@example.com", "password": ""], ["email": .null, "password": .null],
            ]
            for path in ["/auth/register", "/auth/login"] {
                for body in bodies {
                    expectError(try await client.post(path, body), 400, "MISSING_EMAIL_OR_PASSWORD", "\(path) \(body)")
                }
            }
        }
    }

    @Test func `malformed addresses are refused and others are normalised`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let refused = [
                "nobody", "a@b", "a b@example.com", "<a@example.com>", "a@example.com, b@example.com", "a@@example.com",
                "a@example.com\r\nBcc: b@example.com", "\"a b\"@example.com", "a@[127.0.0.1]", "@example.com", "a@",
                String(repeating: "a", count: 65) + "@example.com", "a@" + String(repeating: "b.", count: 130) + "com",
            ]
            for email in refused {
                expectError(try await register(client, email), 400, "INVALID_PARAMETER", email)
            }
            let email = APIClient.newAddress()
            let typed = email.uppercased()
            let answer = try await register(client, typed)
            #expect(answer.status == 201 && answer["email"].string == email)
            let verified = try await client.verify(try await client.mailedToken(to: email, at: server))
            #expect(verified["user"]["email"].string == email && verified["auth"]["providerUid"].string == email)
            #expect(try await client.login(typed)["user"]["id"] == verified["user"]["id"])
        }
    }

    @Test func `a weak password is refused with its reasons`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let cases: [(String, [JSONValue])] = [
                ("x7!Kq2p", ["tooShort"]), ("password", ["tooGuessable"]), ("aaaaaaaaaaaa", ["tooGuessable"]),
                ("abc", ["tooShort", "tooGuessable"]), ("12345678", ["tooGuessable"]),
                (
                    String((0..<257).map { "abcdefghijklmnopqrstuvwxyz".randomElement(at: $0 * $0 * 7 + $0) }),
                    ["tooLong"]
                ),
                ("john.doe.1984", ["tooGuessable"]), ("Maximilian Doe", ["tooGuessable"]),
            ]
            for (password, reasons) in cases {
                let answer = try await client.post(
                    "/auth/register",
                    [
                        "email": "john.doe.1984@example.com", "password": .string(password),
                        "displayName": "Maximilian Doe",
                    ])
                expectError(answer, 400, "TOO_WEAK_PASSWORD", password)
                #expect(answer["error"]["details"]["reasons"].array == reasons, "\(password) \(answer.text)")
            }
            // Passwords of 8 and of 256 code points are accepted, with no rule about kinds of characters.
            for password in [
                "xkqvzjwp", String((0..<256).map { "abcdefghijklmnopqrstuvwxyz".randomElement(at: $0 * $0) }),
            ] {
                #expect(try await register(client, APIClient.newAddress(), password).status == 201, "\(password)")
            }
        }
    }

    @Test func `an application can choose to reveal that an address is taken`() async throws {
        try await TestServer.with(application: "revealExistingIdentities: true") { server in
            let client = APIClient(server)
            let owner = try await client.register(at: server)
            expectError(try await register(client, owner.email), 409, "EXISTING_IDENTITY")
            #expect(try await register(client, APIClient.newAddress()).status == 201)
        }
    }

    @Test func `a display name has its limits`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for name in ["", String(repeating: "n", count: 257)] {
                expectError(
                    try await register(client, APIClient.newAddress(), displayName: .string(name)), 400,
                    "INVALID_PARAMETER")
            }
        }
    }
}

extension String {
    /// Returns the character at this position, modulo the length of the text.
    fileprivate func randomElement(at number: Int) -> Character {
        self[index(startIndex, offsetBy: number % count)]
    }
}
