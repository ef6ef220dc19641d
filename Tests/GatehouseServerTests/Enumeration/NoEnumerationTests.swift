import Accounts
import Delivery
import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Passwords
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Neither responses nor their cost reveal whether an address has an account.
struct NoEnumerationTests {
    private func observe(
        _ addresses: Addresses, at observed: ObservedServer, _ path: String,
        _ body: (String) -> JSONValue
    ) async throws -> [(sort: Addresses.Sort, seen: Observation)] {
        var all: [(sort: Addresses.Sort, seen: Observation)] = []
        for (sort, email) in addresses.all {
            all.append((sort, try await observed.observe(path, body(email)).0))
        }
        return all
    }

    private func mail(_ email: String) -> JSONValue { ["email": .string(email)] }

    private func credentials(_ email: String, _ password: String) -> JSONValue {
        ["email": .string(email), "password": .string(password)]
    }

    @Test func `registering, and signing in with what was registered`() async throws {
        try await ObservedServer.with { observed in
            let addresses = try await Addresses.make(at: observed)
            let registered = try await observe(addresses, at: observed, "/auth/register") {
                credentials($0, APIClient.otherPassword)
            }
            expectAlike(registered, "registration")
            #expect(registered.allSatisfy { $0.seen.status == 201 && $0.seen.hashes == 1 })
            #expect(registered.allSatisfy { $0.seen.rows["outbox"] == 1 && $0.seen.rows["proofs"] == 1 })
            let rows = try await observed.server.count("SELECT count(*) FROM registrations")
            #expect(rows == addresses.all.count)

            let pending = try await observe(addresses, at: observed, "/auth/login") {
                credentials($0, APIClient.otherPassword)
            }
            expectAlike(pending.filter { !$0.sort.isLocked }, "login with the registered password")
            expectAlike(pending.filter(\.sort.isLocked), "the same, locked")
            for (sort, seen) in pending { #expect(seen.status == (sort.isLocked ? 429 : 403), "\(sort)") }
        }
    }

    @Test func `signing in with a wrong password`() async throws {
        try await ObservedServer.with { observed in
            let addresses = try await Addresses.make(at: observed)
            let seen = try await observe(addresses, at: observed, "/auth/login") { credentials($0, "a wrong one") }
            expectAlike(seen.filter { !$0.sort.isLocked }, "login")
            expectAlike(seen.filter(\.sort.isLocked), "login, locked")
            for (sort, seen) in seen {
                #expect(seen.status == (sort.isLocked ? 429 : 401), "\(sort)")
                #expect(seen.hashes == (sort.isLocked ? 0 : 1), "\(sort)")
            }
        }
    }

    @Test func `only the right password reveals the state of an account`() async throws {
        try await ObservedServer.with { observed in
            let addresses = try await Addresses.make(at: observed)
            for (sort, email) in addresses.all {
                let code = try await observed.client.login(email).code
                let expected: String? =
                    switch sort {
                    case .unknown, .withoutPassword: "INVALID_CREDENTIALS"
                    case .known: nil
                    case .unverified: "UNVERIFIED_IDENTITY"
                    case .deleted: "ACCOUNT_DELETED"
                    case .disabled: "ACCOUNT_DISABLED"
                    case .locked, .unknownButLocked: "IDENTITY_TEMPORARILY_LOCKED"
                    }
                #expect(code == expected, "\(sort)")
            }
        }
    }

    @Test func `requesting a password reset`() async throws {
        try await ObservedServer.with { observed in
            let server = observed.server
            let addresses = try await Addresses.make(at: observed)
            let before = server.inbox.messages().count
            let seen = try await observe(addresses, at: observed, "/auth/forgot-password", mail)
            expectAlike(seen, "forgotten password")
            #expect(seen.allSatisfy { $0.seen.status == 202 && $0.seen.rows["outbox"] == 1 })

            // Two of the addresses have no account: their messages are completed without being sent.
            try await eventually("the outbox is empty") {
                try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
            }
            #expect(server.inbox.messages().count == before + addresses.all.count - 2)
            for (sort, email) in addresses.all where [.unknown, .unknownButLocked].contains(sort) {
                #expect(!server.inbox.messages().contains { $0.to == email }, "\(sort)")
            }
            let statistics = server.server.worker.statistics
            #expect(statistics.failed == 0 && statistics.givenUp == 0)
            #expect(try await server.count("SELECT count(*) FROM outbox WHERE failure IS NOT NULL") == 0)

            // Afterwards all of these rows expire.
            try await server.age("outbox", "sent_at", by: "8 days")
            try await server.age("proofs", "expires_at", by: "2 days")
            _ = try await ExpiredRows(database: server.backend.database).remove()
            #expect(try await server.count("SELECT count(*) FROM outbox") == 0)
            #expect(try await server.count("SELECT count(*) FROM proofs") == 0)
        }
    }

    @Test func `requesting a code, requesting it again, and guessing`() async throws {
        try await ObservedServer.with { observed in
            let addresses = try await Addresses.make(at: observed)
            var begun: [(sort: Addresses.Sort, seen: Observation)] = []
            var again = begun
            var guessed = begun
            for (sort, email) in addresses.all {
                // The people who signed in by a code have already used it.
                let (first, answer) = try await observed.observe("/auth/email/otp", mail(email))
                begun.append((sort, first))
                let (second, same) = try await observed.observe("/auth/email/otp", mail(email))
                again.append((sort, second))
                #expect(answer["challengeId"] == same["challengeId"], "\(sort)")
                let guess: JSONValue = ["challengeId": answer["challengeId"], "code": "no code"]
                guessed.append((sort, try await observed.observe("/auth/email/otp/verify", guess).0))
            }
            expectAlike(begun, "a code")
            expectAlike(again, "the same code")
            expectAlike(guessed, "a guess")
            #expect(begun.allSatisfy { $0.seen.status == 202 && $0.seen.rows["outbox"] == 1 })
            #expect(again.allSatisfy { $0.seen.status == 202 && $0.seen.rows["outbox"] == 0 })
            #expect(guessed.allSatisfy { $0.seen.status == 401 })
        }
    }

    @Test func `requesting a code if sign-up is not allowed`() async throws {
        try await ObservedServer.with { observed in
            let (server, addresses) = (observed.server, try await Addresses.make(at: observed))
            let configuration = try Configuration.parse(
                TestServer.yaml(email: "mode: existing"), file: "test.yaml",
                environment: ["DATABASE_URL": server.databaseURL], installed: TestServer.providers)
            try await server.server.take(over: configuration, sections: [.applications])
            try await eventually("the change of the mode is recorded") {
                try await server.count("SELECT count(*) FROM audit_events WHERE event = 'provider.mode-changed'") > 0
            }
            let seen = try await observe(addresses, at: observed, "/auth/email/otp", mail)
            expectAlike(seen, "a code")
            #expect(seen.allSatisfy { $0.seen.status == 202 && $0.seen.rows["outbox"] == 1 })
            try await eventually("the outbox is empty") {
                try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
            }
            for (sort, email) in addresses.all where [.unknown, .unknownButLocked].contains(sort) {
                #expect(!server.inbox.messages().contains { $0.to == email }, "\(sort)")
            }
        }
    }

    @Test func `confirming with a token that is no longer good`() async throws {
        try await ObservedServer.with { observed in
            let (client, server) = (observed.client, observed.server)
            let used = APIClient.newAddress()
            let usedToken = try await client.pend(at: server, used)
            #expect(try await client.verify(usedToken).status == 200)
            let expiredToken = try await client.pend(at: server, APIClient.newAddress())
            try await server.execute("UPDATE proofs SET expires_at = now() - interval '1 second'")
            // The address belongs to an account now.
            let overtaken = APIClient.newAddress()
            let overtakenToken = try await client.pend(at: server, overtaken)
            let reset = try await client.forget(at: server, overtaken)
            #expect(try await client.reset(reset, to: APIClient.otherPassword).status == 204)
            let tokens = [String(repeating: "A", count: 43), usedToken, expiredToken, overtakenToken]
            var seen: [Observation] = []
            for token in tokens {
                seen.append(try await observed.observe("/auth/verify-email", ["token": .string(token)]).0)
            }
            #expect(seen.allSatisfy { $0.status == 401 && $0.shape == seen[0].shape && $0.headers == seen[0].headers })
            #expect(seen[1] == seen[0] && seen[2] == seen[0])
        }
    }

    /// The person who registered the address must not observe what the owner does with the account.
    @Test func `a decoy remains after the owner signs in and changes the password`() async throws {
        let stronger = "argon2: { memoryKiB: 512, iterations: 1, parallelism: 1 }"
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        let person = try await TestServer.with(database: database) { try await APIClient($0).register(at: $0) }
        try await TestServer.with(database: database, passwords: stronger) { server in
            let client = APIClient(server)
            func expectDecoy(_ what: String) async throws {
                let done = server.server.hashing.statistics.done
                expectError(
                    try await client.login(person.email, APIClient.thirdPassword), 403, "UNVERIFIED_IDENTITY", what)
                #expect(server.server.hashing.statistics.done == done + 1, "\(what)")
            }
            _ = try await client.post("/auth/register", credentials(person.email, APIClient.thirdPassword))
            try await expectDecoy("at first")
            let code = try await client.challenge("email", person.email, at: server)
            #expect(try await client.post("/auth/email/otp/verify", .object(code)).status == 200)
            try await expectDecoy("after a sign-in by code")
            let bearer = try await client.login(person.email)["accessToken"].string
            let body = ["password": JSONValue.string(APIClient.otherPassword)]
            #expect(try await client.put("/auth/change-password", .object(body), bearer: bearer).status == 204)
            try await expectDecoy("after a change of password")
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
            let hash = try #require(try await server.text("SELECT hash FROM passwords"))
            #expect(hash.contains("m=256"), "the salt's parameters stay as long as the decoy")
        }
    }

    @Test func `unknown and known addresses cost the same`() async throws {
        let stronger = "argon2: { memoryKiB: 512, iterations: 1, parallelism: 1 }"
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { server in
            for _ in 0..<3 { _ = try await APIClient(server).register(at: server) }
        }
        try await TestServer.with(database: database, passwords: stronger) { server in
            let client = APIClient(server)
            for _ in 0..<20 {
                let asked = credentials(APIClient.newAddress(), APIClient.otherPassword)
                #expect(try await client.post("/auth/register", asked).status == 201)
            }
            func pending(_ costs: String) async throws -> Int {
                try await server.count(
                    "SELECT count(*) FROM registrations WHERE split_part(hash, '$', 4) = $1", [.text(costs)])
            }
            #expect(try await pending("m=256,t=1,p=1") == 20)

            // Simulates that most pending registrations have ended.
            try await server.execute("UPDATE registrations SET expires_at = now()")
            let person = try await client.register(at: server)
            #expect(try await client.login(person.email).status == 200)
            let hash = try await server.text("SELECT hash FROM passwords ORDER BY changed_at DESC LIMIT 1")
            #expect(hash?.contains("m=512") == true, "the first sign-in made up for it")
        }
    }

    /// A decoy, the hash that a pending registration stores, has the same salt as the account's password, so that one
    /// run of Argon2 checks both.
    @Test func `a decoy outlives a change of the hash's parameters`() async throws {
        let stronger = "argon2: { memoryKiB: 512, iterations: 1, parallelism: 1 }"
        try await TestServer.with { before in
            let person = try await APIClient(before).register(at: before)
            try await TestServer.with(database: before.databaseURL, passwords: stronger) { server in
                let client = APIClient(server)
                let hash = try await server.text("SELECT hash FROM passwords")
                _ = try await client.post("/auth/register", credentials(person.email, APIClient.otherPassword))
                for _ in 0..<2 {
                    expectError(
                        try await client.login(person.email, APIClient.otherPassword), 403, "UNVERIFIED_IDENTITY")
                    #expect(try await client.login(person.email).status == 200)
                }
                #expect(try await server.text("SELECT hash FROM passwords") == hash)
                // The password is hashed with the new parameters once no pending registration can reveal the
                // difference.
                try await server.execute("UPDATE registrations SET expires_at = now()")
                #expect(try await client.login(person.email).status == 200)
                #expect(try await server.text("SELECT hash FROM passwords")?.contains("m=512") == true)
                #expect(try await client.login(person.email).status == 200)
            }
        }
    }
}
