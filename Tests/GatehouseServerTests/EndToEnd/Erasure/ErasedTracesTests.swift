import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// After an erasure no table contains data of the person.
struct ErasedTracesTests {
    private func with(_ body: @Sendable @escaping (TestServer, WebhookSink) async throws -> Void) async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(
                application: ErasedTraces.application, providers: "scripted: {}\nphone: { enabled: true }",
                rateLimits: "{ otpSend: 100/h, login: 100/min }",
                webhooks: "[\(sink.entry("account.created", "account.deleted", "account.erased", "identity.linked"))]"
            ) { server in
                try await body(server, sink)
            }
        }
    }

    /// Returns the marker as text, in hexadecimal as PostgreSQL writes bytes, and in base64 as tokens contain it.
    private func forms(of marker: String) -> [String] {
        let bytes = Array(marker.utf8)
        // For each of the three alignments in base64, the characters that do not depend on the neighbouring bytes.
        let hidden = (0..<3).map { shift in
            let text = Data([UInt8](repeating: 0x20, count: shift) + bytes).base64EncodedString()
            return String(text.dropFirst(shift + 1).dropLast(3))
        }
        return [marker, bytes.hex] + hidden
    }

    @Test func `every table has no data of the person, or states why it keeps some`() async throws {
        try await with { server, sink in
            let traces = ErasedTraces()
            let person = try await traces.leave(at: server)
            let before = try await server.rowsByTable()
            for (table, count) in before where ErasedTraces.staying[table] == nil {
                #expect(count > 0, "no trace in \(table)")
            }
            #expect(Set(ErasedTraces.staying.keys).subtracting(before.keys) == [])
            let dumped = try await server.dump()
            for marker in traces.markers(of: person) { #expect(dumped.contains(marker), "\(marker)") }
            let sessions = try await server.text("SELECT string_agg(id::text, ' ') FROM sessions")

            let client = APIClient(server)
            let location = try await client.deleteAccount(person)
            try await eventually("the deletion is told") { !sink.posts(of: "account.deleted").isEmpty }
            _ = try await server.erase(person.uid)
            try await eventually("it is erased once the tokens are given back") {
                try await client.erasure(location)["status"] == "erased"
            }
            for (table, count) in try await server.rowsByTable() where ErasedTraces.staying[table] == nil {
                #expect(count == 0, "\(count) rows of \(table)")
            }
            let dump = try await server.dump()
            for marker in traces.markers(of: person) {
                for form in forms(of: marker) { #expect(!dump.contains(form), "\(marker) as \(form)") }
            }
            // Once the last access tokens have expired, the sessions' ids are not in the dump either.
            try await server.execute("DELETE FROM ended_sessions")
            let later = try await server.dump()
            for session in try #require(sessions).split(separator: " ") {
                for form in forms(of: String(session)) { #expect(!later.contains(form), "session \(form)") }
            }
            #expect(try await server.count("SELECT count(*) FROM audit_events WHERE session_id IS NOT NULL") > 3)
            let messages = try await server.count(
                "SELECT count(*) FROM outbox WHERE coalesce(sealed, recipient) IS NOT NULL OR uid IS NOT NULL")
            #expect(messages == 0)
            #expect(try await server.count("SELECT count(*) FROM token_revocations WHERE sealed IS NOT NULL") == 0)
            #expect(
                sink.posts.allSatisfy { post in
                    traces.markers(of: person).allSatisfy { !String(decoding: post.body, as: UTF8.self).contains($0) }
                })
        }
    }

    @Test func `the certificate has counts and no personal data`() async throws {
        try await with { server, _ in
            let person = try await ErasedTraces().leave(at: server)
            let client = APIClient(server)
            let location = try await client.deleteAccount(person)
            try await eventually("it is erased") {
                if case .erased = try await server.erase(person.uid) { return true }
                return try await client.erasure(location)["status"] == "erased"
            }
            let text = try #require(try await client.erasure(location)["certificate"].string)
            let claims = try DecodedToken(text).claims
            #expect(
                claims.keys == [
                    "iss", "iat", "receipt", "uid", "aliases", "requestedAt", "erasedAt", "erased", "processors",
                ])
            let erased = claims["erased"].object ?? [:]
            for (kind, count) in erased { #expect((count.integer ?? 0) > 0, "\(kind)") }
            #expect(
                Set(erased.keys) == [
                    "proofs", "registrations", "counters", "messages", "redirectFlows", "identities", "sessions",
                    "passwords", "addresses", "refreshTokens",
                ])
            let processors = claims["processors"].array ?? []
            #expect(processors.map { $0["name"] } == ["127.0.0.1", "scripted"])
        }
    }

    @Test func `pending rows of an address without an e-mail identity are removed too`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let person = try await client.newcomer(email: email)
            let asked = try await client.post("/auth/email/otp", ["email": .string(email)])
            #expect(asked.status == 202)
            let registered = try await client.post(
                "/auth/register", ["email": .string(email), "password": .string(APIClient.password)])
            #expect(registered.status == 201)
            for table in ["proofs", "registrations"] { #expect(try await server.rows(of: table) > 0, "\(table)") }
            try await client.deleteAccount(person)
            #expect(try await server.erase(person.uid) == .erased(without: []))
            for table in ["proofs", "registrations"] { #expect(try await server.rows(of: table) == 0, "\(table)") }
        }
    }

    @Test func `the secret of a change to another account's address is removed too`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let owner = try await client.newcomer(email: email)
            let person = try await client.newcomer()
            let wished = try await client.post(
                "/auth/identities/email", ["email": .string(email), "password": .string(APIClient.password)],
                bearer: person.accessToken)
            #expect(wished.status == 202, "\(wished.text)")
            #expect(try await server.rows(of: "proofs") == 1)
            try await client.deleteAccount(person)
            #expect(try await server.erase(person.uid) == .erased(without: []))
            #expect(try await server.rows(of: "proofs") == 0)
            #expect(try await server.accounts(owner.uid) == 1)
        }
    }

    @Test func `a code that they requested is removed too, but not those of others`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let owner = try await client.register(at: server, email: email)
            let (person, other) = (try await client.newcomer(), try await client.newcomer())
            for bearer in [person.accessToken, other.accessToken, nil] {
                let asked = try await client.post("/auth/email/otp", ["email": .string(email)], bearer: bearer)
                #expect(asked.status == 202, "\(asked.text)")
            }
            try await client.deleteAccount(person)
            #expect(try await server.erase(person.uid) == .erased(without: []))
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'code'") == 2)
            #expect(try await server.accounts(owner.uid) == 1)
        }
    }

    @Test func `rows that belong to the address's owner stay`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let owner = try await client.register(at: server, email: email)
            let person = try await client.newcomer()
            let code = try await client.challenge("email", email, at: server)
            expectError(try await client.login(email, "wrong"), 401, "INVALID_CREDENTIALS")
            let wished = try await client.post(
                "/auth/identities/email", ["email": .string(email), "password": .string(APIClient.password)],
                bearer: person.accessToken)
            #expect(wished.status == 202, "\(wished.text)")
            let location = try await client.deleteAccount(person)
            #expect(try await server.erase(person.uid) == .erased(without: []))
            let certificate = try DecodedToken(
                #require(try await client.erasure(location)["certificate"].string))
            #expect(certificate.claims["erased"]["registrations"] == 1 && certificate.claims["erased"]["proofs"] == 1)
            #expect(try await server.rows(of: "registrations") == 0)
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'registration'") == 0)
            #expect(try await server.rows(of: "password_failures") == 1)
            let answer = try await client.post("/auth/email/otp/verify", .object(code))
            #expect(answer.status == 200 && answer["user"]["id"].string == owner.uid, "\(answer.text)")
        }
    }
}
