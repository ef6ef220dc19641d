import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Synchronization
import Testing
import Tokens

@testable import GatehouseServer

/// The steps of an erasure: acknowledgements, the certificate, and crashes in between.
struct ErasureStepTests {
    private struct Crash: Error {}

    @Test(arguments: Erasure.Step.allCases)
    func `after a crash at any step another run completes the erasure`(step: Erasure.Step) async throws {
        try await ProcessDirectory.with { directory in
            let ledger = directory.url.appending(path: "ledger").path
            try await WebhookSink.with { sink in
                try await TestServer.with(
                    application: "deletion: { ledger: \"\(ledger)\" }", providers: "scripted: {}",
                    webhooks: "[\(sink.entry("account.deleted", "account.erased"))]"
                ) { server in
                    let client = APIClient(server)
                    let token = "token-\(UUID().uuidString)"
                    let answer = try await client.present(
                        .somebody("lovelace", email: "lovelace@example.com").holding(token))
                    let person = try Person(answer, email: "", password: "")
                    let location = try await client.deleteAccount(person)
                    try await eventually("the deletion is acknowledged") {
                        try await client.erasure(location)["processors"].array?
                            .contains { $0["status"] == "acknowledged" } == true
                    }
                    try await server.withoutScheduler {
                        await #expect(throws: Crash.self) {
                            // The erasure waits until the provider's tokens are revoked, so the first runs may not
                            // reach the step.
                            while case .waiting = try await server.advance(
                                person.uid, onStep: { if $0 == step { throw Crash() } })
                            {}
                        }
                        let isOver = step == .concluded
                        #expect(try await server.accounts(person.uid) == (isOver ? 0 : 1))
                        guard !isOver else { return }
                        #expect(try await client.erasure(location)["status"] == "scheduled")
                        #expect(sink.posts(of: "account.erased").isEmpty)
                        try await eventually("another run completes it") {
                            try await server.advance(person.uid) == .erased(without: [])
                        }
                    }
                    let erasure = try await client.erasure(location)
                    #expect(erasure["status"] == "erased" && erasure["certificate"].string != nil)
                    #expect(try await server.accounts(person.uid) == 0)
                    try await eventually("it is told") { sink.posts(of: "account.erased").count == 1 }
                    let isRevoked = ScriptedProvider.revoked.withLock { $0.contains(token) }
                    #expect(isRevoked)
                    let lines = try String(contentsOfFile: ledger, encoding: .utf8).split(separator: "\n")
                    #expect(lines.count == (step == .written ? 2 : 1))
                    #expect(lines.allSatisfy { $0.contains(person.uid) && !$0.contains("lovelace") })
                    #expect(try await !server.dump().contains("lovelace@example.com"))
                }
            }
        }
    }

    @Test func `an erasure waits for webhooks until its deadline`() async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { silent in
            try await WebhookSink.with { sink in
                let hooks = [
                    silent.entry("account.deleted").replacing("{ ", with: "{ name: silent, "),
                    sink.entry("account.deleted", "account.erased").replacing("{ ", with: "{ name: prompt, "),
                ]
                try await TestServer.with(
                    application: "deletion: { gracePeriod: 0s, webhookDeadline: 1h }",
                    webhooks: "[\(hooks.joined(separator: ", "))]"
                ) { server in
                    let client = APIClient(server)
                    let guest = try await client.guest()
                    let location = try await client.deleteAccount(guest)
                    try await eventually("one has acknowledged it, and one been tried") {
                        let processors = try await client.erasure(location)["processors"].array ?? []
                        return processors.map { $0["status"] } == ["acknowledged", "pending"]
                            && silent.posts.count > 0
                    }
                    try await eventually("it has begun") {
                        try await server.count("SELECT count(*) FROM erasures WHERE began_at IS NOT NULL") == 1
                    }
                    guard case .waiting(let open) = try await server.erase(guest.uid) else {
                        Issue.record("it did not wait")
                        return
                    }
                    #expect(open.map(\.name) == ["silent"])
                    #expect(try await client.erasure(location)["status"] == "scheduled")
                    #expect(try await client.erasure(location)["erasedAt"] == .null)

                    try await server.age("erasures", "began_at", by: "1 hour")
                    try await eventually("the scheduler goes on without it") {
                        try await client.erasure(location)["status"] == "erased"
                    }
                    let erasure = try await client.erasure(location)
                    let processors = try #require(erasure["processors"].array)
                    #expect(processors.map { $0["name"] } == ["prompt", "silent"])
                    #expect(processors.map { $0["status"] } == ["acknowledged", "unreachable"])
                    #expect(processors[0]["acknowledgedAt"].string != nil)
                    #expect(processors[1]["acknowledgedAt"] == .null)
                    try await eventually("it is told") { sink.posts(of: "account.erased").count == 1 }
                    let told = sink.posts(of: "account.erased")[0].data
                    #expect(told["receipt"].string == String(location.suffix(36)) && told["uid"].string == guest.uid)
                    #expect(
                        try DecodedToken(erasure["certificate"].string ?? "").claims["processors"]
                            == erasure["processors"])
                }
            }
        }
    }

    @Test func `the certificate is signed by a published key that signs nothing else`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let location = try await client.deleteAccount(person)
            try await server.erase(person.uid)
            let erasure = try await client.erasure(location)
            let text = try #require(erasure["certificate"].string)
            let certificate = try DecodedToken(text)
            #expect(certificate.header.keys == ["alg", "kid", "typ"])
            #expect(certificate.header["typ"] == "erasure+jwt" && certificate.header["alg"] == "ES256")
            #expect(certificate.claims["uid"].string == person.uid)
            #expect(certificate.claims["receipt"].string == String(location.suffix(36)))
            for time in ["requestedAt", "erasedAt"] { #expect(certificate.claims[time] == erasure[time]) }
            let erased = certificate.claims["erased"]
            #expect(erased["identities"] == 1 && erased["passwords"] == 1 && erased["addresses"] == 1)
            #expect(certificate.claims["iss"] == "http://127.0.0.1:1")

            let document = try await client.send(.GET, "/.well-known/jwks.json")
            let keys = try #require(document["keys"].array)
            let key = try #require(keys.first { $0["kid"] == certificate.header["kid"] })
            #expect(keys.count == 2 && key["kty"] == "EC" && key["d"] == .null)
            #expect(try certificate.isSigned(by: key))
            let altered = text.replacing(".ey", with: ".ey", maxReplacements: 1).dropLast(6) + "AAAAAA"
            #expect(try !DecodedToken(String(altered)).isSigned(by: key))
            // Rotating the keys of access tokens does not remove the key of certificates.
            try await server.backend.keys.rotate(server.application(), overlap: .zero)
            let later = try await client.send(.GET, "/.well-known/jwks.json")["keys"].array ?? []
            #expect(later.contains(key))
            // A certificate is not accepted as an access token, and a second erasure signs with the same key.
            expectError(try await client.get("/auth/me", bearer: text), 401, "INVALID_TOKEN")
            let guest = try await client.guest()
            let other = try await client.deleteAccount(guest)
            try await server.erase(guest.uid)
            let second = try DecodedToken(try await client.erasure(other)["certificate"].string ?? "")
            #expect(second.header["kid"] == certificate.header["kid"])
        }
    }

    @Test func `idle guests are erased without a grace period`() async throws {
        try await TestServer.with(application: "anonymous: { retention: 1h }") { server in
            let client = APIClient(server)
            let (idle, active, upgraded) = (
                try await client.guest(), try await client.guest(), try await client.guest()
            )
            let person = try await client.register(at: server)
            let code = try await client.challenge(
                "email", APIClient.newAddress(), at: server, bearer: upgraded.accessToken)
            let linked = try await client.post("/auth/identities/email", .object(code), bearer: upgraded.accessToken)
            #expect(linked.status == 200, "\(linked.text)")
            let all = [idle, active, upgraded, person]
            for table in ["identities", "refresh_tokens"] {
                switch table {
                case "identities":
                    try await server.age("identities", "created_at", "last_used_at", by: "2 hours")
                default:
                    try await server.age("refresh_tokens", "created_at", by: "2 hours")
                }
            }
            #expect(try await client.refresh(active.refreshToken).status == 200)
            #expect(try await server.backend.purge.deleteIdleGuests(of: server.scope()) == 1)
            try await eventually("the scheduler erases it") { try await server.accounts(idle.uid) == 0 }
            for other in all where other.uid != idle.uid { #expect(try await server.accounts(other.uid) == 1) }
            expectError(try await client.get("/auth/me", bearer: idle.accessToken), 401, "INVALID_TOKEN")
            #expect(try await server.backend.purge.deleteIdleGuests(of: server.scope()) == 0)
        }
    }
}
