import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// The data that remains after an erasure.
struct ErasureTests {
    @Test func `the scheduler erases what is due, and a dump has nothing of the person`() async throws {
        try await TestServer.with(
            application: "deletion: { gracePeriod: 1s }",
            providers: "scripted: {}\nphone: { enabled: true }", rateLimits: "{ otpSend: 100/h, login: 100/min }"
        ) { server in
            let client = APIClient(server)
            let subject = "subject-\(UUID().uuidString)"
            let phone = "+33612345678"
            let person = try await client.register(at: server)
            _ = try await client.patch(
                "/auth/me", ["displayName": "Ada Lovelace", "metadata": ["city": "Marylebone"]],
                bearer: person.accessToken)
            let linked = try await client.link(
                .somebody(subject, email: "other-\(person.email)", isVerified: false), bearer: person.accessToken)
            #expect(linked.status == 200, "\(linked.text)")
            let code = try await client.challenge("phone", phone, at: server, bearer: person.accessToken)
            let number = try await client.post("/auth/identities/phone", .object(code), bearer: person.accessToken)
            #expect(number.status == 200, "\(number.text)")
            // Counters, unsent messages and pending requests about the person's addresses.
            expectError(try await client.login(person.email, "wrong"), 401, "INVALID_CREDENTIALS")
            let asked = try await client.post("/auth/email/otp", ["email": .string(person.email)])
            _ = try await client.post(
                "/auth/email/otp/verify", ["challengeId": asked["challengeId"], "code": "000000"])
            _ = try await client.post("/auth/forgot-password", ["email": .string(person.email)])
            _ = try await client.post(
                "/auth/register", ["email": .string(person.email), "password": .string(APIClient.otherPassword)])
            for personal in [person.email, phone, subject, "Lovelace", "Marylebone"] {
                #expect(try await server.dump().contains(personal), "\(personal)")
            }

            let location = try await client.deleteAccount(person)
            #expect(try await client.erasure(location)["status"] == "scheduled")
            try await eventually("it is erased") { try await client.erasure(location)["status"] == "erased" }
            let dump = try await server.dump()
            for personal in [person.email, phone, subject, "Lovelace", "Marylebone"] {
                #expect(!dump.contains(personal), "\(personal)")
            }
            for table in ["sessions", "refresh_tokens", "proofs", "registrations", "password_failures", "code_guesses"]
            {
                #expect(try await server.rows(of: table) == 0, "\(table)")
            }
            #expect(try await server.count("SELECT count(*) FROM rate_limits WHERE name LIKE 'otpSend%'") == 0)
            // Only the column `account` links an audit event to a person, and its key has been erased.
            #expect(try await server.count("SELECT count(*) FROM audit_events WHERE account IS NOT NULL") > 0)
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
            expectError(try await client.login(person.email), 401, "INVALID_CREDENTIALS")
            expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
        }
    }

    @Test func `after an erasure the same proofs open new, empty accounts`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            #expect(try await client.link(.somebody("ada"), bearer: person.accessToken).status == 200)
            let code = try await client.challenge("phone", "+33612345678", at: server, bearer: person.accessToken)
            _ = try await client.post("/auth/identities/phone", .object(code), bearer: person.accessToken)
            _ = try await client.patch("/auth/me", ["metadata": ["a": 1]], bearer: person.accessToken)
            let location = try await client.deleteAccount(person)
            #expect(try await server.erase(person.uid) == .erased(without: []))

            let scripted = try await client.present(.somebody("ada"))
            let phone = try await client.challenge("phone", "+33612345678", at: server)
            let byPhone = try await client.post("/auth/phone/otp/verify", .object(phone))
            let old = try await client.mailedToken(to: person.email, at: server)
            let token = try await client.pend(at: server, person.email, other: [old])
            let again = try Person(try await client.verify(token), email: person.email, password: "")
            let answers = [
                scripted["user"], byPhone["user"], try await client.get("/auth/me", bearer: again.accessToken).json,
            ]
            #expect(Set(answers.compactMap { $0["id"].string }).count == 3)
            for user in answers {
                #expect(user["id"].string != person.uid && user["metadata"] == [:], "\(user)")
                #expect(user["authProviders"].array?.count == 1)
            }
            #expect(scripted["isNewAccount"] == true && byPhone["isNewAccount"] == true)
            expectError(try await client.refresh(person.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            #expect(try await client.erasure(location)["status"] == "erased")
        }
    }

    @Test func `a restored account is not erased, and one past its grace not restored`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for _ in 1...5 {
                let login = try await client.login(person.email)
                let location = try await client.deleteAccount(Person(login, email: person.email, password: ""))
                let refused = try await client.login(person.email)
                let token = try #require(refused["error"]["details"]["restoreToken"].string)
                async let restoring = client.post("/auth/account/restore", ["restoreToken": .string(token)])
                async let erasing = server.erase(person.uid)
                let (restored, progress) = (try await restoring, try? await erasing)
                // Whichever came first took effect, and the other found nothing to do.
                guard restored.status == 200 else {
                    #expect(progress == .erased(without: []))
                    expectError(restored, 401, "INVALID_TOKEN")
                    #expect(try await server.accounts(person.uid) == 0)
                    return
                }
                #expect(progress == nil || progress == .void)
                #expect(try await client.erasure(location)["status"] == "restored")
                #expect(try await client.get("/auth/me", bearer: restored["accessToken"].string).status == 200)
            }
        }
    }

    @Test func `absorbed accounts are erased with the account`() async throws {
        try await TestServer.linking { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try Person(try await client.merge(ticket, bearer: ada.accessToken), email: "", password: "")
            let alias = merged.uid == ada.uid ? eve.uid : ada.uid
            let location = try await client.deleteAccount(merged)
            // Erases by the absorbed account's uid, which erases the surviving account as well.
            #expect(try await server.erase(alias) == .erased(without: []))
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
            let certificate = try DecodedToken(try await client.erasure(location)["certificate"].string ?? "")
            #expect(certificate.claims["uid"].string == merged.uid)
            #expect(certificate.claims["aliases"].array == [.string(alias)])
        }
    }

    @Test func `a bearer of an erased session is refused by a replica that starts later`() async throws {
        try await TestServer.with { first in
            let person = try await APIClient(first).register(at: first)
            try await APIClient(first).deleteAccount(person)
            try await first.erase(person.uid)
            try await TestServer.with(database: first.databaseURL) { second in
                let client = APIClient(second)
                try await eventually("the replica has loaded what ended") {
                    try await second.hasLoadedRevocations()
                }
                expectError(try await client.get("/auth/sessions", bearer: person.accessToken), 401, "INVALID_TOKEN")
            }
            let remembered: StaticString =
                "SELECT count(*) FROM ended_sessions WHERE forget_after > now() + interval '24 hours'"
            #expect(try await first.count(remembered) == 1, "as long as any application's tokens may live")
            try await first.execute("UPDATE ended_sessions SET forget_after = now() - interval '1 second'")
            _ = try await first.sweep()
            #expect(try await first.count("SELECT count(*) FROM ended_sessions") == 0)
        }
    }

    @Test func `concurrent sign-ins, links and refreshes leave no data of the account`() async throws {
        try await TestServer.linking { server, client in
            for round in 1...4 {
                let person = try await client.newcomer("ada-\(round)")
                try await client.deleteAccount(person)
                async let entries = atOnce(12) { try await client.present(.somebody("ada-\(round)")) }
                async let links = atOnce(6) {
                    try await client.link(.somebody("more-\(round)"), bearer: person.accessToken)
                }
                async let refreshes = atOnce(6) { try await client.refresh(person.refreshToken) }
                #expect(try await server.erase(person.uid) == .erased(without: []))
                for entry in try await entries {
                    guard entry.status != 200 else {
                        #expect(entry["user"]["id"].string != person.uid)
                        continue
                    }
                    expectError(entry, 403, "ACCOUNT_DELETED")
                }
                for link in try await links { expectError(link, 401, "INVALID_TOKEN") }
                for refresh in try await refreshes { expectError(refresh, 401, "INVALID_REFRESH_TOKEN") }
                #expect(try await server.liveSessions(of: person.uid) == 0)
                #expect(try await server.accounts(person.uid) == 0)
                #expect(
                    try await server.count(
                        "SELECT count(*) FROM proofs WHERE uid = $1", [.uuid(UUID(uuidString: person.uid))]) == 0)
            }
        }
    }
}
