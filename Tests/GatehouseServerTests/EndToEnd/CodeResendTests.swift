import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// A code that is requested again within 60 seconds is not sent again.
struct CodeResendTests {
    private static let proxied = "development: true, trustedProxies: [127.0.0.1]"

    /// A client of the server with its own network address.
    private struct Place {
        let client: APIClient
        let address: String

        func ask(_ email: String, bearer: String? = nil) async throws -> APIClient.Answer {
            try await client.post(
                "/auth/email/otp", ["email": .string(email)], bearer: bearer, headers: ["x-forwarded-for": address])
        }

        func answer(_ challenge: JSONValue, _ code: String, bearer: String? = nil) async throws -> APIClient.Answer {
            try await client.post(
                "/auth/email/otp/verify", ["challengeId": challenge, "code": .string(code)], bearer: bearer,
                headers: ["x-forwarded-for": address])
        }
    }

    private func with(
        rateLimits: String = "off",
        _ body: @Sendable @escaping (TestServer, _ owner: Place, _ stranger: Place) async throws -> Void
    ) async throws {
        try await TestServer.with(server: Self.proxied, rateLimits: rateLimits) { server in
            let client = APIClient(server)
            try await body(
                server, Place(client: client, address: "203.0.113.7"), Place(client: client, address: "198.51.100.9"))
        }
    }

    private func sent(to email: String, at server: TestServer) -> Int {
        server.inbox.messages().count { $0.to == email }
    }

    private func another(than code: String) -> String { code == "000000" ? "000001" : "000000" }

    @Test func `a stranger gets a challenge of their own for the same code, and nothing is sent`() async throws {
        try await with { server, owner, stranger in
            let email = APIClient.newAddress()
            let first = try await owner.ask(email)["challengeId"]
            let code = try await owner.client.sentCode(to: email, at: server)
            let answers = try await atOnce(10) { try await stranger.ask(email) }
            #expect(answers.allSatisfy { $0.status == 202 })
            #expect(Set(answers.map(\.json.keys)) == [["challengeId", "expiresIn", "resendAfter"]])
            let theirs = Set(answers.map { $0["challengeId"] })
            #expect(theirs.count == 1 && !theirs.contains(first))
            let again = try await atOnce(5) { try await owner.ask(email)["challengeId"] }
            #expect(Set(again) == [first])
            #expect(try await server.count("SELECT count(*) FROM outbox") == 1 && sent(to: email, at: server) == 1)
            // Each client has only its own challenge id; either challenge accepts the code, and the first right answer
            // uses up both.
            #expect(try await stranger.answer(theirs.first ?? .null, code).status == 200)
            expectError(try await owner.answer(first, code), 401, "INVALID_CREDENTIALS")
        }
    }

    @Test func `the owner's answer counts, even if another person requested the code first`() async throws {
        try await with { server, owner, stranger in
            let email = APIClient.newAddress()
            let theirs = try await stranger.ask(email)["challengeId"]
            let code = try await owner.client.sentCode(to: email, at: server)
            let own = try await owner.ask(email)["challengeId"]
            #expect(own != theirs)
            // The stranger uses up the attempts of their own challenge.
            let guesses = try await atOnce(30) { try await stranger.answer(theirs, another(than: code)) }
            #expect(guesses.allSatisfy { $0.code == "INVALID_CREDENTIALS" })
            expectError(try await stranger.answer(theirs, code), 401, "INVALID_CREDENTIALS")
            #expect(try await owner.answer(own, code).status == 200)
            expectError(try await owner.answer(own, code), 401, "INVALID_CREDENTIALS")
        }
    }

    @Test func `each challenge allows five attempts, even concurrently, and all count for the address`() async throws {
        try await with { server, owner, stranger in
            let email = APIClient.newAddress()
            let first = try await owner.ask(email)["challengeId"]
            let code = try await owner.client.sentCode(to: email, at: server)
            let theirs = try await stranger.ask(email)["challengeId"]
            let wrong = another(than: code)
            async let some = atOnce(40) { try await owner.answer(first, wrong) }
            async let others = atOnce(40) { try await stranger.answer(theirs, wrong) }
            let answers = try await some + others
            #expect(answers.allSatisfy { $0.code == "INVALID_CREDENTIALS" })
            #expect(try await server.count("SELECT attempts FROM proofs WHERE kind = 'code'") == 5)
            #expect(try await server.count("SELECT attempts FROM code_aliases") == 5)
            #expect(try await server.count("SELECT wrong FROM code_guesses") == 10)
            for (place, challenge) in [(owner, first), (stranger, theirs)] {
                expectError(try await place.answer(challenge, code), 401, "INVALID_CREDENTIALS")
            }
            // A challenge from a third network has its own attempts until the address reaches its daily limit.
            let third = Place(client: owner.client, address: "192.0.2.1")
            let last = try await third.ask(email)["challengeId"]
            try await server.execute("UPDATE code_guesses SET wrong = 500")
            expectError(try await third.answer(last, code), 401, "INVALID_CREDENTIALS")
            try await server.execute("UPDATE code_guesses SET wrong = 10")
            #expect(try await third.answer(last, code).status == 200)
        }
    }

    @Test func `right answers to several challenges at once open one session`() async throws {
        try await with { server, owner, stranger in
            for round in 0..<5 {
                let email = APIClient.newAddress()
                let first = try await owner.ask(email)["challengeId"]
                let code = try await owner.client.sentCode(to: email, at: server)
                let theirs = try await stranger.ask(email)["challengeId"]
                async let some = atOnce(4) { try await owner.answer(first, code) }
                async let others = atOnce(4) { try await stranger.answer(theirs, code) }
                let answers = try await some + others
                #expect(answers.count { $0.status == 200 } == 1, "\(answers.map(\.text))")
                #expect(try await server.count("SELECT count(*) FROM sessions") == round + 1)
            }
        }
    }

    @Test func `a new code ends all challenges for the one before`() async throws {
        try await with { server, owner, stranger in
            let email = APIClient.newAddress()
            let first = try await owner.ask(email)["challengeId"]
            let code = try await owner.client.sentCode(to: email, at: server)
            let theirs = try await stranger.ask(email)["challengeId"]
            try await server.age("proofs", "created_at", by: "61 seconds")
            // The stranger requests again after a minute, so a new code is sent; the owner requests nothing.
            let answers = try await atOnce(6) { try await stranger.ask(email)["challengeId"] }
            #expect(Set(answers).count == 1 && !Set(answers).contains(theirs))
            let newCode = try await owner.client.sentCode(to: email, at: server, other: [code])
            #expect(try await server.count("SELECT count(*) FROM outbox") == 2)
            for (place, challenge) in [(owner, first), (stranger, theirs)] {
                for code in [code, newCode] {
                    expectError(try await place.answer(challenge, code), 401, "INVALID_CREDENTIALS")
                }
            }
            let own = try await owner.ask(email)["challengeId"]
            #expect(own != answers[0] && own != first)
            #expect(try await owner.answer(own, newCode).status == 200)
        }
    }

    @Test func `concurrent first requests from many networks send one code`() async throws {
        try await with { server, owner, _ in
            let email = APIClient.newAddress()
            let places = (1...12).map { Place(client: owner.client, address: "192.0.\($0).1") }
            let challenges = try await withThrowingTaskGroup(of: (Int, JSONValue).self) { group in
                for (index, place) in places.enumerated() {
                    for _ in 0..<3 { group.addTask { (index, try await place.ask(email)["challengeId"]) } }
                }
                return try await group.reduce(into: [Int: Set<JSONValue>]()) { $0[$1.0, default: []].insert($1.1) }
            }
            #expect(challenges.values.allSatisfy { $0.count == 1 && $0 != [.null] }, "\(challenges)")
            #expect(Set(challenges.values.flatMap { $0 }).count == places.count)
            #expect(try await server.count("SELECT count(*) FROM outbox") == 1)
        }
    }

    @Test func `a bearer has a code of its own, with the same id in all responses`() async throws {
        try await with { server, owner, stranger in
            let email = APIClient.newAddress()
            let guest = try await owner.client.guest()
            let unbound = try await stranger.ask(email)["challengeId"]
            let known = try await owner.client.sentCode(to: email, at: server)
            let bound = try await owner.ask(email, bearer: guest.accessToken)["challengeId"]
            let code = try await owner.client.sentCode(to: email, at: server, other: [known])
            #expect(try await stranger.ask(email, bearer: guest.accessToken)["challengeId"] == bound)
            #expect(bound != unbound)
            #expect(try await server.count("SELECT count(*) FROM code_aliases") == 0)
            expectError(try await stranger.answer(bound, code), 401, "INVALID_CREDENTIALS")
            #expect(try await stranger.answer(bound, code, bearer: guest.accessToken).status == 200)
        }
    }

    @Test func `calls that send nothing do not count for the target`() async throws {
        try await with(rateLimits: "{ otpSend: 2/h }") { server, owner, stranger in
            let email = APIClient.newAddress()
            let answers = try await atOnce(8) { try await owner.ask(email).status }
            #expect(answers == Array(repeating: 202, count: 8))
            for _ in 0..<4 { #expect(try await stranger.ask(email).status == 202) }
            try await server.age("proofs", "created_at", by: "61 seconds")
            let second = try await owner.ask(email)
            #expect(second.status == 202)
            let code = try await owner.client.mails(to: email, at: server, count: 2)
                .first?.text.firstMatch(of: /(?:^|[^0-9])([0-9]{6})(?:[^0-9]|$)/)?.output.1
            try await server.age("proofs", "created_at", by: "61 seconds")
            for place in [owner, stranger] { expectError(try await place.ask(email), 429, "RATE_LIMITED") }
            // The refused request leaves the code valid.
            #expect(try await owner.answer(second["challengeId"], String(try #require(code))).status == 200)
        }
    }

    @Test func `expired and used challenges are removed`() async throws {
        try await with { server, owner, stranger in
            let email = APIClient.newAddress()
            _ = try await owner.ask(email)
            _ = try await stranger.ask(email)
            _ = try await ExpiredRows(database: server.backend.database).remove()
            #expect(try await server.count("SELECT count(*) FROM code_aliases") == 1)
            try await server.execute("UPDATE code_aliases SET expires_at = now() - interval '1 second'")
            _ = try await ExpiredRows(database: server.backend.database).remove()
            #expect(try await server.count("SELECT count(*) FROM code_aliases") == 0)
        }
    }
}
