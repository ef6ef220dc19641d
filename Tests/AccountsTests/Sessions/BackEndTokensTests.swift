import Foundation
import ProviderKit
import Synchronization
import Testing

@testable import Accounts

/// How often tokens for the back end are signed, and what they say.
struct BackEndTokensTests {
    /// Counts signatures; a token is its payload.
    private final class PlainJWTs: ApplicationJWTs {
        private let count = Mutex(0)
        var signatures: Int { count.withLock { $0 } }

        func sign(
            as kind: JWTKind, for application: Application, _ payload: @Sendable (SigningAlgorithm) -> [UInt8]
        ) async throws -> String {
            count.withLock { $0 += 1 }
            #expect(kind == .accessToken)
            return String(decoding: payload(.es256), as: UTF8.self)
        }

        func claims<Claims: Decodable & Sendable>(
            of token: String, as kind: JWTKind, for application: Application
        ) async throws -> Claims? { nil }
    }

    private let app = TestApplication()
    private let jwts = PlainJWTs()

    private func principal(in session: UUID = UUID(), uid: UUID = UUID(), endingIn seconds: Int = 3600) -> Principal {
        let now = Int(app.database.now().timeIntervalSince1970)
        var principal = Principal(
            application: app.application, uid: uid, sessionID: session, authenticatedAt: now, provider: "email",
            providerUid: "ada@example.com")
        (principal.methods, principal.expiresAt) = (["pwd"], now + seconds)
        return principal
    }

    private func tokens(capacity: Int = 100) -> BackEndTokens {
        BackEndTokens(jwts: jwts, time: app.database, capacity: capacity)
    }

    private func claims(_ token: String) throws -> JSONValue { try #require(JSONValue(json: Array(token.utf8))) }

    @Test func `a session gets one token in 30 seconds, which lives for 60`() async throws {
        let (tokens, person) = (tokens(), principal())
        let first = try await tokens.token(for: person)
        let claims = try claims(first)
        #expect(claims["exp"].integer == (claims["iat"].integer ?? 0) + 60)
        let known: Set = ["iss", "aud", "sub", "client_id", "iat", "exp", "jti", "sid", "auth_time", "amr"]
        #expect(Set(claims.object?.keys ?? [:].keys) == known, "\(claims)")
        for _ in 1...29 {
            app.database.advance(.seconds(1))
            #expect(try await tokens.token(for: person) == first)
        }
        app.database.advance(.seconds(1))
        #expect(try await tokens.token(for: person) != first)
        #expect(jwts.signatures == 2)
    }

    @Test func `calls at once get the same token, and each session its own`() async throws {
        let (tokens, people) = (tokens(), [principal(), principal()])
        var all: Set<String> = []
        for person in people {
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 1...50 { group.addTask { try await tokens.token(for: person) } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(texts.count == 1)
            all.formUnion(texts)
        }
        #expect(all.count == 2)
    }

    @Test func `a token does not outlive what was presented, and follows what changes in the session`() async throws {
        let tokens = tokens()
        let short = principal(endingIn: 20)
        let (first, now) = (try await tokens.token(for: short), Int64(app.database.now().timeIntervalSince1970))
        #expect(try claims(first)["exp"].integer == now + 20)
        #expect(try await tokens.token(for: short) == first)
        var renewed = short
        renewed.expiresAt += 600
        let second = try await tokens.token(for: renewed)
        #expect(try claims(second)["exp"].integer == now + 60)

        var unlocked = renewed
        unlocked.elevatedUntil = app.database.now().addingTimeInterval(900)
        let third = try await tokens.token(for: unlocked)
        #expect(try claims(third)["elevated_until"].integer == now + 900)
        // After a lock, no call gets the token that says otherwise.
        let fourth = try await tokens.token(for: renewed)
        #expect(try claims(fourth)["elevated_until"] == .null)

        let merged = try await tokens.token(for: principal(in: short.sessionID))
        #expect(try claims(merged)["sub"] != claims(fourth)["sub"])
        let ended = try await tokens.token(for: principal(endingIn: -5))
        #expect(try claims(ended)["exp"].integer == now)
    }

    @Test func `the number of tokens that are kept is limited`() async throws {
        let tokens = tokens(capacity: 10)
        let people = (1...30).map { _ in principal() }
        for person in people { _ = try await tokens.token(for: person) }
        #expect(jwts.signatures == 30)
        for person in people.suffix(10) { _ = try await tokens.token(for: person) }
        #expect(jwts.signatures == 30)
        _ = try await tokens.token(for: people[0])
        #expect(jwts.signatures == 31)
    }
}
