import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Reading, deleting and restoring the caller's account.
struct AccountTests {
    @Test func `me is the user object itself`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let login = try await client.login(person.email)
            let me = try await client.get("/auth/me", bearer: person.accessToken)
            #expect(me.status == 200 && me.json == login["user"], "\(me.text)")
        }
    }

    @Test func `metadata is replaced as a whole, and a change of the name keeps it`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            // The answers have whole seconds.
            try await server.age("accounts", "created_at", "updated_at", by: "2 seconds")
            let before = try await client.get("/auth/me", bearer: guest.accessToken)
            func change(_ body: JSONValue) async throws -> APIClient.Answer {
                try await client.patch("/auth/me", body, bearer: guest.accessToken)
            }
            let first = try await change(["metadata": ["a": 1, "b": ["c": .null]]])
            #expect(first.status == 200 && first["metadata"] == ["a": 1, "b": ["c": .null]], "\(first.text)")
            let named = try await change(["displayName": "Jane", "unknown": 7])
            #expect(named["displayName"] == "Jane" && named["metadata"] == first["metadata"])
            let second = try await change(["metadata": ["d": "é\u{1F600}"], "displayName": .null])
            #expect(second["metadata"] == ["d": "é\u{1F600}"] && second["displayName"] == "Jane")
            #expect(try await change(["metadata": [:]])["metadata"] == [:])
            let same = try await change([:])
            #expect(same.status == 200 && same["displayName"] == "Jane")
            #expect(same["createdAt"] == before["createdAt"] && same["updatedAt"] != before["updatedAt"])
            #expect(same["id"].string == guest.uid)
        }
    }

    @Test func `values that cannot be stored are refused`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let refused: [(JSONValue, String)] = [
                (["displayName": ""], "displayName"),
                (["displayName": .string(String(repeating: "n", count: 257))], "displayName"),
                (["metadata": []], "metadata"), (["metadata": "text"], "metadata"),
                (["metadata": ["a": .string(String(repeating: "x", count: 16 * 1024))]], "metadata"),
                // PostgreSQL returns each of them with 309 digits.
                (["metadata": ["a": .array(Array(repeating: .number(1e308), count: 60))]], "metadata"),
            ]
            for (body, field) in refused {
                let answer = try await client.patch("/auth/me", body, bearer: guest.accessToken)
                expectError(answer, 400, "INVALID_PARAMETER", field)
                #expect(answer.message.hasPrefix("\(field) "), "\(answer.text)")
            }
            let largest: JSONValue = ["a": .string(String(repeating: "x", count: 16 * 1024 - 8))]
            #expect(try await client.patch("/auth/me", ["metadata": largest], bearer: guest.accessToken).status == 200)
        }
    }

    @Test func `deletion ends every session and leaves a receipt`() async throws {
        try await TestServer.with(application: "deletion: { gracePeriod: 10d }") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let other = try Person(try await client.login(person.email), email: "", password: "")
            let deleted = try await client.delete("/auth/account", bearer: person.accessToken)
            #expect(deleted.status == 204 && deleted.body.isEmpty, "\(deleted.text)")
            for session in [person, other] {
                expectError(try await client.get("/auth/me", bearer: session.accessToken), 401, "INVALID_TOKEN")
                expectError(try await client.refresh(session.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            }
            let location = try #require(deleted.headers.first(name: "location"))
            #expect(location.hasPrefix("/api/v1/erasures/"))
            let receipt = try await client.send(.GET, location)
            #expect(receipt.status == 200 && receipt["status"] == "scheduled")
            #expect(receipt["processors"].array != nil && !receipt.json.keys.contains("erasedAt"))
            let requested = try Date(try #require(receipt["requestedAt"].string), strategy: .milliseconds)
            let purge = try Date(try #require(receipt["purgeAfter"].string), strategy: .milliseconds)
            #expect(abs(purge.timeIntervalSince(requested) - 10 * 86_400) < 2)
            expectError(try await client.send(.GET, "/api/v1/erasures/\(UUID())"), 404, "NOT_FOUND")
            let mails = try await client.mails(to: person.email, at: server, count: 2)
            #expect(mails[0].subject?.contains("deleted") == true)
        }
    }

    @Test(arguments: ["profile", "language"])
    func `a change of an account that is disabled meanwhile is refused`(change: String) async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let profile = server.server.useCases.profile
            let (uid, application) = (try #require(UUID(uuidString: person.uid)), try await server.application())
            let principal = Principal(
                application: application, uid: uid, sessionID: UUID(), authenticatedAt: 0, provider: "email",
                providerUid: person.email)
            let changed = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.disable, .uuid(uid))
                let changed = Task {
                    if change == "profile" {
                        _ = try await profile.update(displayName: "Eve", metadata: nil, of: principal)
                    } else {
                        try await profile.choose(language: "fr", of: principal)
                    }
                }
                try await server.awaitBlocked(1)
                return changed
            }
            await #expect(throws: AccountsError.invalidToken) { try await changed.value }
            let sql: StaticString = "SELECT count(*) FROM accounts WHERE display_name = 'Eve' OR locale LIKE 'fr%'"
            #expect(try await server.count(sql) == 0)
        }
    }

    private static let disable = Statement(
        .write, "UPDATE accounts SET disabled_at = now() WHERE application_id = 1 AND uid = $1")

    @Test func `the right proof returns a restore token for a deleted account, once`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            _ = try await client.patch("/auth/me", ["metadata": ["a": 1]], bearer: person.accessToken)
            let before = try await client.get("/auth/me", bearer: person.accessToken)
            let deleted = try await client.delete("/auth/account", bearer: person.accessToken)
            expectError(try await client.login(person.email, "wrong password"), 401, "INVALID_CREDENTIALS")
            let login = try await client.login(person.email)
            expectError(login, 403, "ACCOUNT_DELETED")
            let details = login["error"]["details"]
            #expect(details["purgeAfter"].string != nil)
            let token = try #require(details["restoreToken"].string)
            let location = try #require(deleted.headers.first(name: "location"))
            #expect(try await client.send(.GET, location)["purgeAfter"] == details["purgeAfter"])

            let body: JSONValue = ["restoreToken": .string(token)]
            let answers = try await atOnce(10) { try await client.post("/auth/account/restore", body) }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 9)
            let restored = try #require(answers.first { $0.status == 200 })
            #expect(restored["user"]["id"].string == person.uid && restored["isNewAccount"] == false)
            #expect(restored["user"]["metadata"] == before["metadata"])
            #expect(restored["user"]["authProviders"] == before["authProviders"])
            #expect(try await client.send(.GET, location)["status"] == "restored")
            #expect(try await client.login(person.email).status == 200)
            expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
            for text in ["", "x", token, String(repeating: "A", count: 43), person.refreshToken] {
                expectError(
                    try await client.post("/auth/account/restore", ["restoreToken": .string(text)]), 401,
                    "INVALID_TOKEN", text)
            }
        }
    }

    @Test func `a restore token is used up even if the restore fails`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await client.deleteAccount(person)
            let login = try await client.login(person.email)
            let body: JSONValue = ["restoreToken": login["error"]["details"]["restoreToken"]]
            try await server.setDisabled(true, person)
            expectError(try await client.post("/auth/account/restore", body), 403, "ACCOUNT_DISABLED")
            try await server.setDisabled(false, person)
            expectError(try await client.post("/auth/account/restore", body), 401, "INVALID_TOKEN")
        }
    }

    @Test func `after the grace period an account cannot be restored`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            _ = try await client.delete("/auth/account", bearer: person.accessToken)
            let login = try await client.login(person.email)
            let token = try #require(login["error"]["details"]["restoreToken"].string)
            try await server.makeDue()
            expectError(
                try await client.post("/auth/account/restore", ["restoreToken": .string(token)]), 401, "INVALID_TOKEN")
        }
    }

    @Test func `a deleted account keeps its address, and a restore sets the password of the reset`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            _ = try await client.delete("/auth/account", bearer: person.accessToken)
            _ = try await client.post(
                "/auth/register", ["email": .string(person.email), "password": .string(APIClient.otherPassword)])
            expectError(try await client.login(person.email, APIClient.otherPassword), 403, "UNVERIFIED_IDENTITY")
            let token = try await client.forget(at: server, person.email)
            let reset = try await client.reset(token, to: APIClient.thirdPassword)
            expectError(reset, 403, "ACCOUNT_DELETED")
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS", "the old password")
            expectError(try await client.login(person.email, APIClient.thirdPassword), 403, "ACCOUNT_DELETED")
            let restore = try #require(reset["error"]["details"]["restoreToken"].string)
            #expect(
                try await client.post("/auth/account/restore", ["restoreToken": .string(restore)]).status == 200)
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS")
            #expect(try await client.login(person.email, APIClient.thirdPassword).status == 200)
        }
    }

    @Test func `deletion needs a recent authentication, except for guests`() async throws {
        try await TestServer.with(application: "recentAuthentication: 60") { server in
            let client = APIClient(server)
            let (person, guest) = (try await client.register(at: server), try await client.guest())
            try await server.letPass(.seconds(62))
            for (token, status) in [(person.refreshToken, 403), (guest.refreshToken, 204)] {
                let bearer = try #require(try await client.refresh(token)["accessToken"].string)
                let answer = try await client.delete("/auth/account", bearer: bearer)
                #expect(answer.status == status, "\(answer.text)")
                #expect(answer.code == (status == 403 ? "TOKEN_TOO_OLD" : nil))
            }
            #expect(try await client.login(person.email).status == 200)
        }
    }

    @Test func `deletion during sign-ins leaves no live session`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for _ in 1...3 {
                let person = try await client.register(at: server)
                async let logins = atOnce(20) { try await client.login(person.email) }
                async let refreshes = atOnce(10) { try await client.refresh(person.refreshToken) }
                let deleted = try await client.delete("/auth/account", bearer: person.accessToken)
                #expect(deleted.status == 204, "\(deleted.text)")
                for login in try await logins {
                    guard login.status == 200 else {
                        expectError(login, 403, "ACCOUNT_DELETED")
                        continue
                    }
                    let session = try Person(login, email: "", password: "")
                    expectError(try await client.get("/auth/me", bearer: session.accessToken), 401, "INVALID_TOKEN")
                }
                for refresh in try await refreshes where refresh.status == 200 {
                    let bearer = try #require(refresh["accessToken"].string)
                    expectError(try await client.get("/auth/me", bearer: bearer), 401, "INVALID_TOKEN")
                }
                #expect(try await server.liveSessions(of: person.uid) == 0)
            }
        }
    }

    @Test func `a sign-in that waits for a deletion finds the account deleted`() async throws {
        try await TestServer.with(providers: "scripted: {}") { server in
            let client = APIClient(server)
            let person = try await client.newcomer("ada")
            let uid = try #require(UUID(uuidString: person.uid))
            let (deletion, signIn) = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(
                    Statement(.write, "SELECT FROM accounts WHERE application_id = 1 AND uid = $1 FOR UPDATE"),
                    [.uuid(uid)])
                // PostgreSQL grants the row lock in the order in which the two calls wait for it.
                let deletion = Task { try await client.deleteAccount(person) }
                try await server.awaitBlocked(1)
                let signIn = Task { try await client.present(.somebody("ada")) }
                try await server.awaitBlocked(2)
                return (deletion, signIn)
            }
            _ = try await deletion.value
            expectError(try await signIn.value, 403, "ACCOUNT_DELETED")
            let live = try await server.liveSessions(of: person.uid)
            #expect(live == 0)
        }
    }

    @Test func `a deletion deletes nothing if its session ends while it waits`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let deletion = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(
                    Statement(.write, "SELECT FROM accounts WHERE application_id = 1 FOR UPDATE"), [])
                let deletion = Task { try await client.delete("/auth/account", bearer: person.accessToken) }
                try await server.awaitBlocked(1)
                let left = try await client.post("/auth/logout", bearer: person.accessToken)
                #expect(left.status == 204)
                return deletion
            }
            expectError(try await deletion.value, 401, "INVALID_TOKEN")
            #expect(try await client.login(person.email).status == 200)
        }
    }

    @Test func `only one of several concurrent deletions gets the receipt`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let answers = try await atOnce(10) { try await client.delete("/auth/account", bearer: guest.accessToken) }
            #expect(answers.count { $0.status == 204 } == 1)
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 9)
            #expect(try await server.count("SELECT count(*) FROM erasures") == 1)
        }
    }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
    fileprivate static var milliseconds: Self { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}
