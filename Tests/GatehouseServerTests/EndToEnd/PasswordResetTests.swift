import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Resetting a password by a mailed token.
struct PasswordResetTests {
    @Test func `requesting a reset reveals nothing`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let unknown = APIClient.newAddress()
            let ofUnknown = try await client.post("/auth/forgot-password", ["email": .string(unknown)])
            let ofKnown = try await client.post("/auth/forgot-password", ["email": .string(person.email.uppercased())])
            #expect(ofUnknown.status == 202 && ofKnown.status == 202)
            #expect(ofUnknown.json == ofKnown.json)
            #expect(try await client.mails(to: person.email, at: server, count: 2).count == 2)
            // The known address was requested last, so a mail to the unknown one would have arrived before its mail.
            #expect(!server.inbox.messages().contains { $0.to == unknown })
        }
    }

    @Test func `a reset replaces the password and ends every session`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let second = try Person(try await client.login(person.email), email: "", password: "")
            let token = try await client.forget(at: server, person.email)
            let reset = try await client.reset(token, to: APIClient.otherPassword)
            #expect(reset.status == 204 && reset.body.isEmpty, "\(reset.text)")
            for session in [person, second] {
                expectError(try await client.get("/auth/me", bearer: session.accessToken), 401, "INVALID_TOKEN")
                expectError(try await client.refresh(session.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            }
            #expect(try await server.liveSessions(of: person.uid) == 0)
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS")
            let login = try await client.login(person.email, APIClient.otherPassword)
            #expect(login.status == 200 && login["user"]["id"].string == person.uid)
            expectError(try await client.reset(token, to: APIClient.thirdPassword), 401, "INVALID_TOKEN")
            let notice = try await client.mails(to: person.email, at: server, count: 3)[0]
            #expect(notice.subject?.contains("was changed") == true && !notice.text.contains("token="))
        }
    }

    @Test func `only one of many concurrent resets with one token succeeds`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let token = try await client.forget(at: server, person.email)
            let answers = try await atOnce(20) { try await client.reset(token, to: APIClient.otherPassword) }
            #expect(answers.count { $0.status == 204 } == 1)
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 19)
        }
    }

    @Test func `using a token invalidates the others, and expired tokens are refused`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let first = try await client.forget(at: server, person.email)
            let second = try await client.forget(at: server, person.email)
            #expect(first != second)
            #expect(try await client.reset(second, to: APIClient.otherPassword).status == 204)
            expectError(try await client.reset(first, to: APIClient.thirdPassword), 401, "INVALID_TOKEN")
            let late = try await client.forget(at: server, person.email)
            try await server.execute("UPDATE proofs SET expires_at = now() - interval '1 second'")
            expectError(try await client.reset(late, to: APIClient.thirdPassword), 401, "INVALID_TOKEN")
        }
    }

    @Test func `a refused password leaves the token good`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let token = try await client.forget(at: server, person.email)
            expectError(try await client.reset(token, to: "password"), 400, "TOO_WEAK_PASSWORD")
            expectError(try await client.reset(token, to: person.email), 400, "TOO_WEAK_PASSWORD")
            #expect(try await client.reset(token, to: APIClient.otherPassword).status == 204)
            for text in ["", "x", String(repeating: "A", count: 43), person.refreshToken] {
                expectError(try await client.reset(text, to: APIClient.thirdPassword), 401, "INVALID_TOKEN", text)
            }
        }
    }

    @Test func `a reset discards pending registrations and lifts the lock`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            _ = try await client.post(
                "/auth/register", ["email": .string(person.email), "password": .string(APIClient.thirdPassword)])
            for _ in 1...10 { _ = try await client.login(person.email, "wrong password") }
            expectError(try await client.login(person.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
            let token = try await client.forget(at: server, person.email)
            #expect(try await client.reset(token, to: APIClient.otherPassword).status == 204)
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
            expectError(try await client.login(person.email, APIClient.thirdPassword), 401, "INVALID_CREDENTIALS")
        }
    }

    @Test func `a reset of an address that only awaits its registration opens the account`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let registration = try await client.pend(at: server, email)
            let token = try await client.forget(at: server, email)
            #expect(try await client.reset(token, to: APIClient.otherPassword).status == 204)
            expectError(try await client.verify(registration), 401, "INVALID_TOKEN")
            expectError(try await client.login(email), 401, "INVALID_CREDENTIALS")
            let login = try await client.login(email, APIClient.otherPassword)
            #expect(login.status == 200 && login["user"]["email"].string == email)
            let uid = try #require(login["user"]["id"].string)
            #expect(try await server.liveSessions(of: uid) == 1, "the reset itself opened no session")
        }
    }

    @Test func `a login that races with a reset leaves no session of the old password`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            var (old, new) = (APIClient.password, APIClient.otherPassword)
            for _ in 1...4 {
                let token = try await client.forget(at: server, person.email)
                let password = old
                async let logins = atOnce(9) { try await client.login(person.email, password) }
                let reset = try await client.reset(token, to: new)
                #expect(reset.status == 204, "\(reset.text)")
                for login in try await logins {
                    guard login.status == 200 else {
                        // The address is locked once the refused logins of earlier rounds have added up.
                        #expect([401, 429].contains(login.status), "\(login.text)")
                        continue
                    }
                    let session = try Person(login, email: "", password: "")
                    expectError(try await client.get("/auth/me", bearer: session.accessToken), 401, "INVALID_TOKEN")
                    expectError(try await client.refresh(session.refreshToken), 401, "INVALID_REFRESH_TOKEN")
                }
                #expect(try await server.liveSessions(of: person.uid) == 0)
                try await server.execute("DELETE FROM password_failures")
                (old, new) = (new, old)
            }
        }
    }

    @Test func `a disabled account is not reset`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let token = try await client.forget(at: server, person.email)
            try await server.setDisabled(true, person)
            expectError(try await client.reset(token, to: APIClient.otherPassword), 403, "ACCOUNT_DISABLED")
            try await server.setDisabled(false, person)
            #expect(try await client.login(person.email).status == 200)
        }
    }
}
