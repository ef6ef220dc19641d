import Accounts
import Delivery
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// A password reset of an account in its grace period takes effect when the account is restored.
struct DeletedResetTests {
    private func restoreToken(_ answer: APIClient.Answer) throws -> String {
        expectError(answer, 403, "ACCOUNT_DELETED")
        return try #require(answer.json["error"]["details"]["restoreToken"].string, "\(answer.text)")
    }

    private func restore(_ client: APIClient, _ token: String) async throws -> APIClient.Answer {
        try await client.post("/auth/account/restore", ["restoreToken": .string(token)])
    }

    @Test func `the restore sets the new password, and only the owner can restore`() async throws {
        try await TestServer.linking { server, client in
            let (person, _) = try await client.victim(at: server, of: "eve")
            try await client.deleteAccount(person)
            let stolen = try restoreToken(try await client.present(.somebody("eve")))
            let token = try restoreToken(try await client.resetPassword(of: person.email, at: server))
            expectError(try await restore(client, stolen), 401, "INVALID_TOKEN")
            try expectQuarantined(try await client.present(.somebody("eve")))
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS", "an intruder may know it")
            expectError(try await client.login(person.email, APIClient.otherPassword), 403, "ACCOUNT_DELETED")
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE password_hash IS NOT NULL") == 1)

            // The sign-in above got a restore token of its own; the token of the reset and its new password stay valid.
            let restored = try await restore(client, token)
            #expect(restored.status == 200 && restored["user"]["id"].string == person.uid, "\(restored.text)")
            #expect(restored["auth"]["provider"] == "email")
            #expect(try await client.get("/auth/me", bearer: restored["accessToken"].string).status == 200)
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS")
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
            try expectQuarantined(try await client.present(.somebody("eve")))
            _ = try await client.reviewToken(of: person.email, at: server)
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'restore'") == 0)
        }
    }

    @Test(arguments: [true, false])
    func `a sign-in that waits for the reset gets no restore token`(hasOldPassword: Bool) async throws {
        try await TestServer.linking { server, client in
            let (person, _) = try await client.victim(at: server, of: "eve")
            try await client.deleteAccount(person)
            let token = try await client.forget(at: server, person.email)
            let (reset, signIn) = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockAccount, .uuid(UUID(uuidString: person.uid)))
                // PostgreSQL grants the row lock in the order in which the two calls wait for it.
                let reset = Task { try await client.reset(token, to: APIClient.otherPassword) }
                try await server.awaitBlocked(1)
                let signIn = Task {
                    hasOldPassword ? try await client.login(person.email) : try await client.present(.somebody("eve"))
                }
                try await server.awaitBlocked(2)
                return (reset, signIn)
            }
            _ = try restoreToken(try await reset.value)
            if hasOldPassword {
                expectError(try await signIn.value, 401, "INVALID_CREDENTIALS")
            } else {
                try expectQuarantined(try await signIn.value)
            }
            let tokens = try await server.count("SELECT count(*) FROM proofs WHERE kind = 'restore'")
            #expect(tokens == 1, "that of the reset")
        }
    }

    private static let lockAccount = Statement(
        .write, "SELECT FROM accounts WHERE application_id = 1 AND uid = $1 FOR UPDATE")

    @Test func `an address that is no identity yet becomes one with the restore`() async throws {
        try await TestServer.linking { server, client in
            let address = APIClient.newAddress()
            let person = try await client.newcomer("ada", email: address)
            try await client.deleteAccount(person)
            let token = try restoreToken(try await client.resetPassword(of: address, at: server))
            let restored = try await restore(client, token)
            #expect(restored.status == 200 && restored["user"]["id"].string == person.uid, "\(restored.text)")
            #expect(try await client.login(address, APIClient.otherPassword)["user"]["id"].string == person.uid)
            #expect(try await client.present(.somebody("ada"))["user"]["id"].string == person.uid, "proves the mailbox")
        }
    }
}
