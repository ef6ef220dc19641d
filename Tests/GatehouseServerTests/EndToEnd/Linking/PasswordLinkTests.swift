import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Adding an e-mail address, with a password or by a code, to an account that was created in another way.
struct PasswordLinkTests {
    private func ask(
        _ client: APIClient, _ email: String, bearer: String, onConflict: String? = nil
    ) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = ["email": .string(email), "password": .string(APIClient.password)]
        body["onConflict"] = onConflict.map { .string($0) }
        return try await client.post("/auth/identities/email", .object(body), bearer: bearer)
    }

    private func verify(_ client: APIClient, _ token: String, bearer: String?) async throws -> APIClient.Answer {
        try await client.post("/auth/verify-email", ["token": .string(token)], bearer: bearer)
    }

    @Test func `the token and the account's bearer link together, neither alone`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.newcomer("ada")
            let stranger = try await client.newcomer("eve")
            let email = APIClient.newAddress()
            let asked = try await ask(client, email.uppercased(), bearer: person.accessToken)
            #expect(asked.status == 202 && asked.json.keys == ["message", "email"], "\(asked.text)")
            #expect(asked["email"].string == email)
            expectError(try await client.login(email), 403, "UNVERIFIED_IDENTITY")
            let token = try await client.mailedToken(to: email, at: server)
            for bearer in [nil, stranger.accessToken] {
                expectError(try await verify(client, token, bearer: bearer), 401, "INVALID_TOKEN")
            }
            let linked = try await verify(client, token, bearer: person.accessToken)
            #expect(linked.status == 200 && linked["user"]["id"].string == person.uid, "\(linked.text)")
            #expect(linked["user"]["email"].string == email && linked["auth"]["provider"] == "email")
            #expect(try await client.login(email)["user"]["id"].string == person.uid)
            expectError(try await verify(client, token, bearer: person.accessToken), 401, "INVALID_TOKEN", "again")
        }
    }

    @Test func `only one of twenty concurrent presentations of one token links`() async throws {
        try await TestServer.linking { server, client in
            let (person, email) = (try await client.newcomer("ada"), APIClient.newAddress())
            #expect(try await ask(client, email, bearer: person.accessToken).status == 202)
            let token = try await client.mailedToken(to: email, at: server)
            let answers = try await atOnce(20) { try await verify(client, token, bearer: person.accessToken) }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 19, "\(answers.map(\.text))")
        }
    }

    @Test func `a registration that is replaced while its link is presented links nothing`() async throws {
        try await TestServer.linking { server, client in
            let (person, email) = (try await client.newcomer("ada"), APIClient.newAddress())
            #expect(try await ask(client, email, bearer: person.accessToken).status == 202)
            let token = try await client.mailedToken(to: email, at: server)
            let verified = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.replaceRegistration)
                let verified = Task { try await verify(client, token, bearer: person.accessToken) }
                try await server.awaitBlocked(1)
                return verified
            }
            expectError(try await verified.value, 401, "INVALID_TOKEN")
            #expect(try await client.identities(bearer: person.accessToken).count == 1)
        }
    }

    private static let replaceRegistration = Statement(
        .write, "UPDATE registrations SET id = uuid('6f7b2a1e-0000-4000-8000-000000000000') WHERE application_id = 1")

    @Test func `an address with an account answers alike, and its proof gives a ticket`() async throws {
        try await TestServer.linking { server, client in
            let owner = try await client.register(at: server)
            let person = try await client.newcomer("ada")
            let asked = try await ask(client, owner.email, bearer: person.accessToken)
            #expect(asked.status == 202, "\(asked.text)")
            let known = try await client.mailedToken(to: owner.email, at: server)
            _ = try await client.mails(to: owner.email, at: server, count: 2)
            let token = try await client.mailedToken(to: owner.email, at: server)
            _ = known
            #expect(try await client.login(owner.email).status == 200)
            let refused = try await verify(client, token, bearer: person.accessToken)
            expectError(refused, 409, "IDENTITY_IN_USE")
            let ticket = try #require(refused.json["error"]["details"]["mergeToken"].string)
            let merged = try await client.merge(ticket, bearer: person.accessToken)
            #expect(merged["user"]["id"].string == owner.uid, "the older one: \(merged.text)")
            #expect(try await client.present(.somebody("ada"))["user"]["id"].string == owner.uid)
        }
    }

    @Test func `a guest becomes permanent by an address and a password`() async throws {
        try await TestServer.linking { server, client in
            let guest = try await client.guest()
            let email = APIClient.newAddress()
            #expect(try await ask(client, email, bearer: guest.accessToken).status == 202)
            let token = try await client.mailedToken(to: email, at: server)
            let upgraded = try await verify(client, token, bearer: guest.accessToken)
            #expect(upgraded["user"]["id"].string == guest.uid && upgraded["user"]["isAnonymous"] == false)
            #expect(try await client.login(email)["user"]["id"].string == guest.uid)
        }
    }

    @Test func `a guest that switches does not change the account's password`() async throws {
        try await TestServer.linking { server, client in
            let (owner, guest) = (
                try await client.register(at: server, password: APIClient.otherPassword), try await client.guest()
            )
            #expect(try await ask(client, owner.email, bearer: guest.accessToken, onConflict: "merge").status == 202)
            _ = try await client.mails(to: owner.email, at: server, count: 2)
            let token = try await client.mailedToken(to: owner.email, at: server)
            let merged = try await verify(client, token, bearer: guest.accessToken)
            #expect(merged["user"]["id"].string == owner.uid, "\(merged.text)")
            expectError(try await client.login(owner.email), 401, "INVALID_CREDENTIALS")
            #expect(try await client.login(owner.email, APIClient.otherPassword).status == 200)
        }
    }

    @Test func `a code links an address or a number, once`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.newcomer("ada")
            let (email, phone) = (APIClient.newAddress(), "+33612345678")
            for (kind, address) in [("email", email), ("phone", phone)] {
                let code = try await client.challenge(kind, address, at: server, bearer: person.accessToken)
                let linked = try await client.post(
                    "/auth/identities/\(kind)", .object(code), bearer: person.accessToken)
                #expect(linked.status == 200 && linked["user"]["id"].string == person.uid, "\(linked.text)")
                expectError(
                    try await client.post("/auth/identities/\(kind)", .object(code), bearer: person.accessToken), 401,
                    "INVALID_CREDENTIALS", "again")
            }
            let me = try await client.get("/auth/me", bearer: person.accessToken)
            #expect(me["email"].string == email && me["phone"].string == phone && me["phoneVerified"] == true)
        }
    }

    @Test func `a code requested with a bearer works only for that session`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let mine = try await client.challenge("email", APIClient.newAddress(), at: server, bearer: ada.accessToken)
            for bearer in [eve.accessToken, nil] {
                let path = bearer == nil ? "/auth/email/otp/verify" : "/auth/identities/email"
                expectError(try await client.post(path, .object(mine), bearer: bearer), 401, "INVALID_CREDENTIALS")
            }
            #expect(
                try await client.post("/auth/identities/email", .object(mine), bearer: ada.accessToken).status == 200)
            let anybodys = try await client.challenge("email", APIClient.newAddress(), at: server)
            #expect(
                try await client.post("/auth/identities/email", .object(anybodys), bearer: eve.accessToken).status
                    == 200)
        }
    }

    @Test func `a code for another account's address gives a ticket`() async throws {
        try await TestServer.linking { server, client in
            let address = APIClient.newAddress()
            // The account has the address from another provider, so there is no e-mail identity with it.
            let (owner, person) = (
                try await client.newcomer("owner", email: address), try await client.newcomer("ada")
            )
            let code = try await client.challenge("email", address, at: server, bearer: person.accessToken)
            let refused = try await client.post("/auth/identities/email", .object(code), bearer: person.accessToken)
            expectError(refused, 409, "IDENTITY_IN_USE")
            #expect(refused.json["error"]["details"]["rule"] == "address.in-use")
            let ticket = refused.json["error"]["details"]["mergeToken"].string ?? ""
            let merged = try await client.merge(ticket, bearer: person.accessToken)
            #expect(merged["user"]["id"].string == owner.uid, "\(merged.text)")
        }
    }

    /// If `isAsked` is true, the request contains the current password, that of the session's own address.
    @Test(arguments: [true, false])
    func `a change of password changes every password of the account`(isAsked: Bool) async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let email = APIClient.newAddress()
            #expect(try await ask(client, email, bearer: person.accessToken).status == 202)
            let token = try await client.mailedToken(to: email, at: server)
            let linked = try await verify(client, token, bearer: person.accessToken)
            let wrong: JSONValue = ["currentPassword": "wrong", "password": .string(APIClient.otherPassword)]
            expectError(
                try await client.put("/auth/change-password", wrong, bearer: linked["accessToken"].string), 401,
                "INVALID_CREDENTIALS")
            var body: [String: JSONValue] = ["password": .string(APIClient.otherPassword)]
            if isAsked { body["currentPassword"] = .string(APIClient.password) }
            let changed = try await client.put(
                "/auth/change-password", .object(body), bearer: linked["accessToken"].string)
            #expect(changed.status == 204, "\(changed.text)")
            for address in [email, person.email] {
                expectError(try await client.login(address), 401, "INVALID_CREDENTIALS", address)
                #expect(try await client.login(address, APIClient.otherPassword).status == 200, "\(address)")
            }
        }
    }

    @Test func `a password for one's own address is a new password`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server, password: APIClient.otherPassword)
            let other = try Person(
                try await client.login(person.email, APIClient.otherPassword), email: "", password: "")
            #expect(try await ask(client, person.email, bearer: person.accessToken).status == 202)
            _ = try await client.mails(to: person.email, at: server, count: 2)
            let token = try await client.mailedToken(to: person.email, at: server)
            #expect(try await verify(client, token, bearer: person.accessToken).status == 200)
            expectError(try await client.get("/auth/me", bearer: other.accessToken), 401, "INVALID_TOKEN")
            #expect(try await client.login(person.email).status == 200)
            _ = try await client.mails(to: person.email, at: server, count: 3)
        }
    }

    @Test func `a password re-authenticates only its own account`() async throws {
        try await TestServer.linking { server, client in
            let (person, other) = (try await client.register(at: server), try await client.register(at: server))
            func again(_ email: String, _ password: String) async throws -> APIClient.Answer {
                try await client.post(
                    "/auth/reauthenticate",
                    ["provider": "email", "email": .string(email), "password": .string(password)],
                    bearer: person.accessToken)
            }
            let fresh = try await again(person.email, person.password)
            #expect(fresh.status == 200 && fresh["user"]["id"].string == person.uid, "\(fresh.text)")
            expectError(try await again(person.email, "wrong"), 401, "INVALID_CREDENTIALS")
            expectError(try await again(other.email, other.password), 401, "INVALID_CREDENTIALS")
        }
    }
}
