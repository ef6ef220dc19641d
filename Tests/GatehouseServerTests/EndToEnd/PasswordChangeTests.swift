import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import Accounts
@testable import GatehouseServer

/// Changing the password of a signed-in person.
struct PasswordChangeTests {
    private func change(
        _ client: APIClient, to password: String, current: JSONValue = .null, bearer: String
    ) async throws -> APIClient.Answer {
        try await client.put(
            "/auth/change-password", ["password": .string(password), "currentPassword": current], bearer: bearer)
    }

    @Test func `a change keeps its own session and ends the others`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let other = try Person(try await client.login(person.email), email: "", password: "")
            let changed = try await change(
                client, to: APIClient.otherPassword, current: .string(person.password), bearer: person.accessToken)
            #expect(changed.status == 204 && changed.body.isEmpty, "\(changed.text)")
            #expect(changed.headers.first(name: "cache-control") == "no-store")
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)
            #expect(try await client.refresh(person.refreshToken).status == 200)
            expectError(try await client.get("/auth/me", bearer: other.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.refresh(other.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS")
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
            let mails = try await client.mails(to: person.email, at: server, count: 2)
            #expect(mails.contains { $0.subject?.contains("was changed") == true })
        }
    }

    @Test func `the current password may be left out but not be wrong`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for wrong in ["", "wrong password", APIClient.otherPassword] {
                let answer = try await change(
                    client, to: APIClient.otherPassword, current: .string(wrong), bearer: person.accessToken)
                expectError(answer, 401, "INVALID_CREDENTIALS", wrong)
            }
            #expect(try await client.login(person.email).status == 200)
            #expect(try await change(client, to: APIClient.otherPassword, bearer: person.accessToken).status == 204)
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
        }
    }

    @Test func `wrong current passwords count towards the lock`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for _ in 1...10 {
                _ = try await change(
                    client, to: APIClient.otherPassword, current: "wrong password", bearer: person.accessToken)
            }
            let locked = try await change(
                client, to: APIClient.otherPassword, current: .string(person.password), bearer: person.accessToken)
            expectError(locked, 429, "IDENTITY_TEMPORARILY_LOCKED")
            expectError(try await client.login(person.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
        }
    }

    /// Otherwise guesses at the same time would get more tries than one after the other.
    @Test func `a password that is right while ten wrong ones lock it is refused`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let principal = try await server.server.useCases.authentication.principal(
                presenting: person.accessToken, in: server.application())
            let hasher = InterruptedHasher {
                for _ in 1...10 { _ = try await client.login(person.email, "wrong password") }
            }
            let current = CurrentPassword(
                store: server.backend.store, hasher: hasher, opaque: server.backend.opaque)
            let refusal = await #expect(throws: AccountsError.self) {
                try await current.require(
                    person.password, of: principal, from: Client(device: nil, address: "192.0.2.7"))
            }
            guard case .identityTemporarilyLocked? = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            expectError(try await client.login(person.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
        }
    }

    @Test func `a weak new password changes nothing`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for weak in ["", "short", "password", person.email] {
                expectError(
                    try await change(client, to: weak, bearer: person.accessToken), 400, "TOO_WEAK_PASSWORD", weak)
            }
            #expect(try await client.login(person.email).status == 200)
        }
    }

    @Test func `an old authentication is not enough, a guest has no password`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let guest = try await client.guest()
            try await server.letPass(.seconds(301))
            for (token, status, code) in [
                (person.refreshToken, 403, "TOKEN_TOO_OLD"), (guest.refreshToken, 404, "IDENTITY_NOT_FOUND"),
            ] {
                let bearer = try #require(try await client.refresh(token)["accessToken"].string)
                expectError(try await change(client, to: APIClient.otherPassword, bearer: bearer), status, code)
            }
            let login = try await client.login(person.email)
            let bearer = try #require(login["accessToken"].string)
            #expect(try await change(client, to: APIClient.otherPassword, bearer: bearer).status == 204)
        }
    }

    @Test func `only one of several concurrent changes with the current password succeeds`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let answers = try await atOnce(10) {
                try await change(
                    client, to: APIClient.otherPassword, current: .string(person.password), bearer: person.accessToken)
            }
            #expect(answers.count { $0.status == 204 } == 1, "\(answers.map(\.status))")
            #expect(
                answers.allSatisfy { $0.status == 204 || $0.code == "INVALID_CREDENTIALS" }, "\(answers.map(\.text))")
        }
    }

    @Test func `if two sessions change the password at once, one of them is ended`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let other = try Person(try await client.login(person.email), email: "", password: "")
            async let first = change(client, to: APIClient.otherPassword, bearer: person.accessToken)
            async let second = change(client, to: APIClient.thirdPassword, bearer: other.accessToken)
            let statuses = try await [first.status, second.status]
            #expect(statuses.sorted() == [204, 401])
            let (kept, password) =
                statuses[0] == 204 ? (person, APIClient.otherPassword) : (other, APIClient.thirdPassword)
            #expect(try await client.get("/auth/me", bearer: kept.accessToken).status == 200)
            #expect(try await client.login(person.email, password).status == 200)
        }
    }

    @Test func `an identity that moves to another account during a change keeps its password`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (person, other) = (try await client.register(at: server), try await client.register(at: server))
            let (uid, newUid) = (Bind.uuid(UUID(uuidString: person.uid)), Bind.uuid(UUID(uuidString: other.uid)))
            let changed = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockAccount, uid)
                let changed = Task {
                    try await change(client, to: APIClient.otherPassword, bearer: person.accessToken)
                }
                try await server.awaitBlocked(1)
                _ = try await transaction.execute(Self.moveIdentities, uid, newUid)
                return changed
            }
            expectError(try await changed.value, 404, "IDENTITY_NOT_FOUND")
            let login = try await client.login(person.email, person.password)
            #expect(login["user"]["id"].string == other.uid, "\(login.text)")
        }
    }

    private static let lockAccount = Statement(
        .write, "SELECT uid FROM accounts WHERE application_id = 1 AND uid = $1 FOR UPDATE")
    private static let moveIdentities = Statement(
        .write, "UPDATE identities SET uid = $2 WHERE application_id = 1 AND uid = $1")

    @Test func `a session that a reset ended cannot change the password`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for _ in 1...6 {
                let thief = try Person(try await client.login(person.email), email: "", password: "")
                let token = try await client.forget(at: server, person.email)
                async let changes = atOnce(4) {
                    try await change(client, to: APIClient.thirdPassword, bearer: thief.accessToken)
                }
                let reset = try await client.reset(token, to: APIClient.otherPassword)
                let hasChanged = try await changes.contains { $0.status == 204 }
                // If the change came first, it invalidated the mailed token; if the reset came first, the session of
                // the change has ended.
                if reset.status != 204 { expectError(reset, 401, "INVALID_TOKEN") }
                #expect(reset.status == 204 || hasChanged)
                let again = try await client.forget(at: server, person.email)
                let last = reset.status == 204 ? APIClient.otherPassword : APIClient.thirdPassword
                #expect(try await client.login(person.email, last).status == 200)
                #expect(try await client.reset(again, to: person.password).status == 204)
            }
        }
    }
}

/// Finds every password right, after something else has happened.
private struct InterruptedHasher: PasswordHashing {
    let meanwhile: @Sendable () async throws -> Void

    func match(
        _ password: String, against hashes: [PasswordHash], for requester: HashingRequester
    ) async throws -> PasswordMatch? {
        try await meanwhile()
        return hashes.first.map { PasswordMatch(hash: $0, isOutdated: false) }
    }

    func reserve(for requester: HashingRequester) throws -> HashingPlace { HashingPlace(id: 0) }
    func giveBack(_ place: HashingPlace) {}
    func requireCapacity(for requester: HashingRequester) throws {}

    func hash(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash { PasswordHash(phc: password) }

    func hashRegistration(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash { PasswordHash(phc: password) }
}
