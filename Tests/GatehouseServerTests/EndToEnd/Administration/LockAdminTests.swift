import Accounts
import Administration
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Locks as administrators see and lift them.
struct LockAdminTests {
    @Test func `wrong passwords lock an address until that is lifted`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let photos = try await OperatorClient.of(server, application: "photos")
            let person = try await api.register(at: server)
            for _ in 1...10 { _ = try await api.login(person.email, "a wrong one") }
            expectError(try await api.login(person.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
            // However the address is typed.
            let subject: [String: JSONValue] = ["email": .string(person.email.uppercased())]
            let found = try await admin.ask("/limits/search", .object(subject))
            let locks = found["locks"].array ?? []
            #expect(found.status == 200 && locks.count == 1, "\(found.text)")
            #expect(locks.first?["kind"] == "password" && locks.first?["name"] == "email")
            #expect(locks.first?["until"].string != nil && !found.text.contains("@"))
            #expect(try await photos.ask("/limits/search", .object(subject))["locks"] == [])
            #expect(try await photos.act("/limits/lift", subject)["lifted"] == [])
            expectError(try await api.login(person.email), 429, "IDENTITY_TEMPORARILY_LOCKED")

            let pseudonym = try await server.pseudonym(of: person.uid)
            let answers = try await atOnce(20) { try await admin.act("/limits/lift", subject) }
            #expect(answers.contains { $0.status == 200 })
            #expect(answers.allSatisfy { [200, 503].contains($0.status) }, "\(answers.map(\.text))")
            #expect(try await api.login(person.email).status == 200)
            #expect(try await admin.ask("/limits/search", .object(subject))["locks"] == [])
            let lifted = try await server.audited().filter { $0.event == "limits.lifted" }
            #expect(lifted.count == 1 && lifted.first?.account == pseudonym)
            #expect(lifted.first?.details["failures"] == 1)
            let searched = try await server.audited().filter { $0.event == "limits.searched" }
            #expect(searched.map(\.details["hits"]) == [1, 0])
            #expect(searched.allSatisfy { $0.details["kind"] == "email" && !"\($0)".contains("@") })
        }
    }

    @Test func `searches for locks are limited, and lifting them is not`() async throws {
        try await TestServer.with(rateLimits: "{ adminSearch: 1/h }", admin: OperatorClient.admin) { server in
            let admin = try await OperatorClient.of(server)
            let subject: [String: JSONValue] = ["email": "nobody@example.com"]
            #expect(try await admin.ask("/limits/search", .object(subject)).status == 200)
            expectError(try await admin.ask("/limits/search", .object(subject)), 429, "RATE_LIMITED")
            for _ in 1...2 { #expect(try await admin.act("/limits/lift", subject).status == 200) }
        }
    }

    @Test func `unknown subjects look like quiet ones`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let person = try await api.register(at: server)
            let subjects: [JSONValue] = [
                ["email": .string(person.email)], ["email": "nobody@example.com"], ["phone": "+33612345678"],
                ["address": "192.0.2.7"], ["address": "2001:db8::1"],
            ]
            var answers: Set<String> = []
            for subject in subjects {
                answers.insert(try await admin.ask("/limits/search", subject).text)
                let lifted = try await admin.act("/limits/lift", subject.object ?? [:])
                #expect(lifted.status == 200 && lifted["locks"] == [] && lifted["lifted"] == [], "\(lifted.text)")
            }
            #expect(answers == [#"{"locks":[]}"#])
            // An unknown address is locked like a known one.
            for _ in 1...10 { _ = try await api.login("nobody@example.com", "a wrong one") }
            #expect(try await admin.ask("/limits/search", subjects[1])["locks"].array?.count == 1)
        }
    }

    @Test func `a client's rate limit is lifted at every replica`() async throws {
        let limits = "{ login: 3/h }"
        try await TestServer.with(rateLimits: limits, admin: OperatorClient.admin) { first in
            let (api, admin) = (APIClient(first), try await OperatorClient.of(first))
            // Either of two servers might deliver the mail to its own inbox.
            let person = try await api.register(at: first)
            try await TestServer.with(database: first.databaseURL, rateLimits: limits, admin: OperatorClient.admin) {
                second in
                let other = APIClient(second)
                for _ in 1...3 { #expect(try await api.login(person.email).status == 200) }
                for client in [api, other] { expectError(try await client.login(person.email), 429, "RATE_LIMITED") }
                let subject: [String: JSONValue] = ["address": "127.0.0.1"]
                let found = try await admin.ask("/limits/search", .object(subject))
                let lock = found["locks"].array?.first { $0["name"] == "login" }
                #expect(lock?["kind"] == "rate" && lock?["until"].string != nil, "\(found.text)")
                #expect(try await admin.act("/limits/lift", subject).status == 200)
                #expect(try await api.login(person.email).status == 200)
                try await eventually("the other replica lets the client in, too", within: .seconds(5)) {
                    try await other.login(person.email).status == 200
                }
            }
        }
    }

    @Test func `messages to an address and wrong codes are lifted`() async throws {
        try await TestServer.with(rateLimits: "{ otpSend: 1/h }", admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let email = APIClient.newAddress()
            #expect(try await api.post("/auth/email/otp", ["email": .string(email)]).status == 202)
            try await server.execute("DELETE FROM proofs")
            expectError(try await api.post("/auth/email/otp", ["email": .string(email)]), 429, "RATE_LIMITED")
            try await server.execute(
                """
                INSERT INTO code_guesses (application_id, subject, wrong)
                SELECT id, sha256(convert_to('email:' || $1, 'UTF8')), 500 FROM applications WHERE name = 'demo'
                """, [.text(email)])
            let subject: [String: JSONValue] = ["email": .string(email)]
            let found = try await admin.ask("/limits/search", .object(subject))
            let locks = (found["locks"].array ?? []).map { "\($0["kind"].string ?? "") \($0["name"].string ?? "")" }
            #expect(Set(locks) == ["code email", "rate otpSend"], "\(found.text)")
            #expect(try await admin.act("/limits/lift", subject)["lifted"].array?.count == 2)
            #expect(try await admin.ask("/limits/search", .object(subject))["locks"] == [])
            #expect(try await api.post("/auth/email/otp", ["email": .string(email)]).status == 202)
        }
    }

    @Test func `a subject's locks are lifted five times a day, and wrong codes only once they lock`() async throws {
        try await TestServer.with(rateLimits: "{ adminSearch: 100/min }", admin: OperatorClient.admin) { server in
            let admin = try await OperatorClient.of(server)
            let subject: [String: JSONValue] = ["email": "ada@example.com"]
            try await server.execute(
                """
                INSERT INTO code_guesses (application_id, subject, wrong)
                SELECT id, sha256(convert_to('email:ada@example.com', 'UTF8')), 99 FROM applications WHERE name = 'demo'
                """)
            #expect(try await admin.act("/limits/lift", subject).status == 200)
            #expect(try await server.count("SELECT count(*) FROM code_guesses") == 1, "not locked yet")
            try await server.execute("UPDATE code_guesses SET wrong = 100")
            #expect(try await admin.act("/limits/lift", subject)["lifted"].array?.count == 1)
            #expect(try await server.count("SELECT count(*) FROM code_guesses") == 0)
            for _ in 1...3 { #expect(try await admin.act("/limits/lift", subject).status == 200) }
            let other = try await OperatorClient.of(server)
            expectError(try await other.act("/limits/lift", subject), 429, "RATE_LIMITED", "by another administrator")
            #expect(try await admin.act("/limits/lift", ["email": "grace@example.com"]).status == 200)
        }
    }

    @Test func `locks of an administrator are not lifted by a key`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let person = try await api.register(at: server)
            for _ in 1...10 { _ = try await api.login(person.email, "a wrong one") }
            let grants = AdminGrants(store: server.backend.store, home: try await server.application())
            let uid = try #require(UUID(uuidString: person.uid))
            try await grants.grant(.auditor, to: uid, on: nil, by: TestServer.operations)
            expectError(try await admin.act("/limits/lift", ["email": .string(person.email)]), 403, "FORBIDDEN")
            expectError(try await api.login(person.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
        }
    }

    @Test func `exactly one valid subject is named`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let admin = try await OperatorClient.of(server)
            expectError(try await admin.ask("/limits/search"), 400, "MISSING_PARAMETER")
            let wrong: [[String: JSONValue]] = [
                ["email": "a@example.com", "phone": "+33612345678"], ["email": "ada"], ["phone": "0612345678"],
                ["address": "localhost"], ["address": "10.0.0.0/8"],
            ]
            for subject in wrong {
                expectError(try await admin.ask("/limits/search", .object(subject)), 400, "INVALID_PARAMETER")
                expectError(try await admin.act("/limits/lift", subject), 400, "INVALID_PARAMETER")
            }
            expectError(try await admin.ask("/limits/lift", ["email": "a@example.com"]), 400, "MISSING_PARAMETER")
        }
    }
}
