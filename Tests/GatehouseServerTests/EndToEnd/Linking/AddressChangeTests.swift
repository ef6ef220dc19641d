import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Changing the address of an e-mail or phone identity.
struct AddressChangeTests {
    private func begin(
        _ client: APIClient, _ id: String, _ address: JSONValue, bearer: String
    ) async throws -> APIClient.Answer {
        try await client.post("/auth/identities/\(id)/address", address, bearer: bearer)
    }

    private func verify(
        _ client: APIClient, _ id: String, _ challenge: JSONValue, _ code: String, bearer: String
    ) async throws -> APIClient.Answer {
        try await client.post(
            "/auth/identities/\(id)/address/verify", ["challengeId": challenge, "code": .string(code)], bearer: bearer)
    }

    @Test func `the old address stays until the new one is proven, and both are notified`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let id = try await client.identityID(of: "email", bearer: person.accessToken)
            let address = APIClient.newAddress()
            let asked = try await begin(client, id, ["email": .string(address)], bearer: person.accessToken)
            #expect(
                asked.status == 202 && asked.json.keys == ["challengeId", "expiresIn", "resendAfter"], "\(asked.text)")
            let again = try await begin(client, id, ["email": .string(address)], bearer: person.accessToken)
            #expect(again["challengeId"] == asked["challengeId"], "within a minute")
            #expect(try await client.get("/auth/me", bearer: person.accessToken)["email"].string == person.email)
            let code = try await client.sentCode(to: address, at: server)
            expectError(
                try await client.post(
                    "/auth/email/otp/verify", ["challengeId": asked["challengeId"], "code": .string(code)]), 401,
                "INVALID_CREDENTIALS", "it opens no session")
            let changed = try await verify(client, id, asked["challengeId"], code, bearer: person.accessToken)
            #expect(changed.status == 200 && changed["id"].string == id, "\(changed.text)")
            #expect(changed["providerUid"].string == address && changed["email"].string == address)
            #expect(changed["emailVerified"] == true)
            #expect(try await client.get("/auth/me", bearer: person.accessToken)["email"].string == address)
            #expect(try await client.login(address)["user"]["id"].string == person.uid, "the password stays")
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS")
            for told in [person.email, address] {
                let mails = try await client.mails(to: told, at: server, count: 2)
                #expect(mails.contains { $0.subject?.contains("changed") == true }, "\(told)")
            }
            let next = try await client.present(.somebody("next", email: person.email))
            #expect(next["isNewAccount"] == true && next["user"]["email"].string == person.email, "the old one is free")
            expectError(
                try await verify(client, id, asked["challengeId"], code, bearer: person.accessToken), 401,
                "INVALID_CREDENTIALS", "again")
        }
    }

    @Test func `if two accounts change to one address, the first proof wins`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.register(at: server), try await client.register(at: server))
            let address = APIClient.newAddress()
            var wishes: [(person: Person, id: String, challenge: JSONValue, code: String)] = []
            for person in [ada, eve] {
                let id = try await client.identityID(of: "email", bearer: person.accessToken)
                let asked = try await begin(client, id, ["email": .string(address)], bearer: person.accessToken)
                let code = try await client.sentCode(to: address, at: server, other: Set(wishes.map(\.code)))
                wishes.append((person, id, asked["challengeId"], code))
            }
            let first = wishes[1]
            let won = try await verify(client, first.id, first.challenge, first.code, bearer: first.person.accessToken)
            #expect(won.status == 200, "\(won.text)")
            let second = wishes[0]
            expectError(
                try await verify(client, second.id, second.challenge, second.code, bearer: second.person.accessToken),
                401, "INVALID_CREDENTIALS")
            #expect(try await client.get("/auth/me", bearer: ada.accessToken)["email"].string == ada.email)
        }
    }

    @Test func `of twenty proofs of one address by two accounts, one changes an address`() async throws {
        try await TestServer.linking { server, client in
            let address = APIClient.newAddress()
            var codes: Set<String> = []
            var proofs: [@Sendable () async throws -> APIClient.Answer] = []
            for _ in 0..<2 {
                let person = try await client.register(at: server)
                let id = try await client.identityID(of: "email", bearer: person.accessToken)
                let challenge = try await begin(client, id, ["email": .string(address)], bearer: person.accessToken)[
                    "challengeId"]
                let code = try await client.sentCode(to: address, at: server, other: codes)
                codes.insert(code)
                proofs.append { try await verify(client, id, challenge, code, bearer: person.accessToken) }
            }
            let (first, second) = (proofs[0], proofs[1])
            async let others = atOnce(10) { try await first() }
            let answers = try await atOnce(10) { try await second() } + others
            #expect(answers.count { $0.status == 200 } == 1, "\(answers.map(\.text))")
            #expect(answers.count { $0.status == 401 || $0.status == 409 } == 19, "\(answers.map(\.text))")
            let owners: StaticString = "SELECT count(*) FROM addresses WHERE address = $1"
            #expect(try await server.count(owners, [.text(address)]) == 1)
        }
    }

    @Test func `an address of another account is refused with a ticket`() async throws {
        try await TestServer.linking { server, client in
            let (owner, ada) = (try await client.register(at: server), try await client.register(at: server))
            let id = try await client.identityID(of: "email", bearer: ada.accessToken)
            let asked = try await begin(client, id, ["email": .string(owner.email)], bearer: ada.accessToken)
            #expect(asked.status == 202, "as for any address: \(asked.text)")
            let code = try await client.sentCode(to: owner.email, at: server)
            let refused = try await verify(client, id, asked["challengeId"], code, bearer: ada.accessToken)
            expectError(refused, 409, "IDENTITY_IN_USE")
            #expect(refused.json["error"]["details"]["mergeToken"].string != nil)
            #expect(try await client.get("/auth/me", bearer: ada.accessToken)["email"].string == ada.email)
        }
    }

    @Test func `a number changes in the same way, and five wrong codes end the change`() async throws {
        try await TestServer.linking { server, client in
            let begun = try await client.challenge("phone", "+33612345678", at: server)
            let person = try Person(
                try await client.post("/auth/phone/otp/verify", .object(begun)), email: "", password: "")
            let id = try await client.identityID(of: "phone", bearer: person.accessToken)
            let asked = try await begin(client, id, ["phone": "+33687654321"], bearer: person.accessToken)
            #expect(asked.status == 202, "\(asked.text)")
            let code = try await client.sentCode(to: "+33687654321", at: server)
            let changed = try await verify(client, id, asked["challengeId"], code, bearer: person.accessToken)
            #expect(changed["providerUid"] == "+33687654321" && changed["phone"] == "+33687654321", "\(changed.text)")
            for told in ["+33612345678", "+33687654321"] {
                _ = try await client.mails(to: told, at: server, count: 2)
            }
            let other = try await begin(client, id, ["phone": "+33611223344"], bearer: person.accessToken)
            let right = try await client.sentCode(to: "+33611223344", at: server)
            let wrong = right == "000000" ? "000001" : "000000"
            let guesses = try await atOnce(50) {
                try await verify(client, id, other["challengeId"], wrong, bearer: person.accessToken)
            }
            #expect(guesses.allSatisfy { $0.code == "INVALID_CREDENTIALS" })
            expectError(
                try await verify(client, id, other["challengeId"], right, bearer: person.accessToken), 401,
                "INVALID_CREDENTIALS", "dead")
        }
    }

    @Test func `addresses of other accounts are refused`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.register(at: server), try await client.newcomer("eve"))
            let id = try await client.identityID(of: "email", bearer: ada.accessToken)
            let foreign = try await client.identityID(of: "scripted", bearer: eve.accessToken)
            func begin(_ id: String, _ body: JSONValue, _ person: Person = ada) async throws -> APIClient.Answer {
                try await self.begin(client, id, body, bearer: person.accessToken)
            }
            expectError(try await begin(foreign, ["email": "a@example.com"]), 404, "IDENTITY_NOT_FOUND")
            expectError(try await begin("x", ["email": "a@example.com"]), 404, "IDENTITY_NOT_FOUND")
            expectError(try await begin(foreign, ["email": "a@example.com"], eve), 404, "IDENTITY_NOT_FOUND")
            expectError(try await begin(id, [:]), 400, "MISSING_PARAMETER")
            expectError(try await begin(id, ["phone": "+33612345678"]), 400, "MISSING_PARAMETER")
            expectError(try await begin(id, ["email": "nonsense"]), 400, "INVALID_PARAMETER")
            expectError(try await begin(id, ["email": .string(ada.email)]), 400, "INVALID_PARAMETER")
        }
    }
}
