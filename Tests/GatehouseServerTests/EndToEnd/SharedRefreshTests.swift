import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer
@testable import OpenID
@testable import Storage

/// Refreshes that share a statement: what it rotates, and what it leaves to the statement for a single token.
struct SharedRefreshTests {
    /// Guests, whose refresh tokens were not presented, with a rotation for each.
    private struct Guests {
        let server: TestServer
        let client: APIClient
        let all: [Person]
        let rotations: [FirstRotation]
        let application: Accounts.Application.ID

        var database: Database { server.backend.database }

        func rotated(_ rotations: [FirstRotation]) async throws -> [FirstRotation: Result<SessionGrant, any Error>] {
            try await SharedStatements(from: database).rotations.values(rotations, .rest(of: application))
        }

        func uid(_ index: Int) -> Bind { .uuid(UUID(uuidString: all[index].uid)) }
    }

    private func withGuests(
        _ count: Int, patience: TestServer.Patience = .unlimited,
        _ body: @Sendable @escaping (Guests) async throws -> Void
    ) async throws {
        try await TestServer.with(patience: patience) { server in
            let client = APIClient(server)
            var (all, rotations): ([Person], [FirstRotation]) = ([], [])
            for _ in 0..<count {
                let guest = try await client.guest()
                let row = try await server.backend.database.first(
                    Self.selectToken, .uuid(UUID(uuidString: guest.uid)))
                var token = try #require(row)
                all.append(guest)
                rotations.append(.random(of: try token.next()))
            }
            try await body(
                Guests(
                    server: server, client: client, all: all, rotations: rotations,
                    application: server.application().id))
        }
    }

    private static let selectToken = Statement(
        .read,
        """
        SELECT t.hash FROM refresh_tokens t
          JOIN sessions s ON s.application_id = t.application_id AND s.id = t.session_id
         WHERE s.uid = $1
        """)

    @Test func `each token gets the grant of its own session`() async throws {
        try await withGuests(20) { guests in
            let rotated = try await guests.rotated(guests.rotations.shuffled())
            for (guest, rotation) in zip(guests.all, guests.rotations) {
                #expect(try rotated[rotation]?.get().uid.uuidString.lowercased() == guest.uid)
            }
            #expect(try await guests.rotated(guests.rotations).isEmpty)
        }
    }

    private static let spoilings: [StaticString] = [
        "UPDATE sessions SET ended_at = now(), end_reason = 'loggedOut' WHERE uid = $1",
        "UPDATE sessions SET expires_at = now() WHERE uid = $1",
        "UPDATE sessions SET generation = generation + 1 WHERE uid = $1",
        "UPDATE refresh_tokens SET expires_at = now() WHERE session_id = (SELECT id FROM sessions WHERE uid = $1)",
        "DELETE FROM sessions WHERE uid = $1",
    ]

    @Test(arguments: spoilings)
    func `a token that is not valid is left out, and fails no other`(spoil: StaticString) async throws {
        try await withGuests(2) { guests in
            try await guests.server.execute("UPDATE refresh_tokens SET generation = 0")
            try await guests.server.execute(spoil, [guests.uid(0)])
            #expect(Array(try await guests.rotated(guests.rotations).keys) == [guests.rotations[1]])
            expectError(try await guests.client.refresh(guests.all[0].refreshToken), 401, "INVALID_REFRESH_TOKEN")
        }
    }

    @Test func `an unreadable profile fails alone`() async throws {
        try await withGuests(2) { guests in
            // JSON nested more deeply than the decoder allows.
            try await guests.server.execute(
                """
                UPDATE identities SET profile = ('{"a":' || repeat('[', 1000) || repeat(']', 1000) || '}')::jsonb
                 WHERE uid = $1
                """, [guests.uid(0)])
            let rotated = try await guests.rotated(guests.rotations)
            #expect(throws: (any Error).self) { try rotated[guests.rotations[0]]?.get() }
            #expect(try rotated[guests.rotations[1]]?.get().uid.uuidString.lowercased() == guests.all[1].uid)
        }
    }

    @Test func `a borrowed session stays borrowed`() async throws {
        try await withGuests(1) { guests in
            try await guests.server.execute("UPDATE sessions SET is_borrowed = true")
            var token = guests.all[0].refreshToken
            for _ in 0..<2 {
                let answer = try await guests.client.refresh(token)
                let bearer = try #require(answer["accessToken"].string)
                #expect(try DecodedToken(bearer).claims["borrowed"] == true)
                expectError(try await guests.client.get("/auth/account/export", bearer: bearer), 403, "TOKEN_TOO_OLD")
                token = try #require(answer["refreshToken"].string)
            }
        }
    }

    @Test func `a session that is being deleted is left out, and holds up no other`() async throws {
        try await withGuests(2) { guests in
            let refresh = try await guests.database.transaction { transaction in
                _ = try await transaction.execute(
                    Self.lockSession, [.application(guests.application), guests.uid(0)])
                #expect(Array(try await guests.rotated(guests.rotations).keys) == [guests.rotations[1]])
                let refresh = Task { try await guests.client.refresh(guests.all[0].refreshToken) }
                try await guests.server.awaitBlocked(1)
                return refresh
            }
            #expect(try await refresh.value.status == 200)
        }
    }

    private static let lockSession = Statement(
        .write, "SELECT FROM sessions WHERE application_id = $1 AND uid = $2 FOR UPDATE")

    @Test func `a token whose successor is being deleted is left out, and holds up no other`() async throws {
        try await withGuests(2) { guests in
            #expect(try await guests.rotated([guests.rotations[0]]).count == 1)
            try await guests.database.transaction { transaction in
                let successor = guests.rotations[0].successor
                _ = try await transaction.execute(
                    Self.deleteToken, [.application(guests.application), .bytes(successor)])
                #expect(Array(try await guests.rotated(guests.rotations).keys) == [guests.rotations[1]])
            }
        }
    }

    private static let deleteToken = Statement(
        .write, "DELETE FROM refresh_tokens WHERE application_id = $1 AND hash = $2")

    @Test func `statements for the same tokens in opposite orders rotate each once`() async throws {
        try await withGuests(40) { guests in
            let orders = (0..<10).map { $0.isMultiple(of: 2) ? guests.rotations : guests.rotations.reversed() }
            let all = try await withThrowingTaskGroup(of: [FirstRotation].self) { group in
                for order in orders { group.addTask { Array(try await guests.rotated(order).keys) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(all.count == 40 && Set(all) == Set(guests.rotations))
        }
    }

    // Citus ends the statement instead of the wait for the lock.
    @Test(.needsOneNode) func `if a token must be waited for too long, each is decided by itself`() async throws {
        try await withGuests(2, patience: .limited) { guests in
            try await guests.database.transaction { transaction in
                _ = try await transaction.execute(
                    Self.insertToken,
                    [.application(guests.application), .bytes(guests.rotations[0].presented)]
                        + [.bytes(guests.rotations[0].successor)])
                #expect(try await guests.rotated(guests.rotations).isEmpty)
                #expect(try await guests.client.refresh(guests.all[1].refreshToken).status == 200)
            }
        }
    }

    private static let insertToken = Statement(
        .write,
        """
        INSERT INTO refresh_tokens (application_id, hash, session_id, expires_at)
        SELECT $1, $3, session_id, expires_at FROM refresh_tokens WHERE application_id = $1 AND hash = $2
        """)

    // MARK: - Clients

    /// A refresh token of the client `web`, and the terms on which it can be rotated.
    private struct Grant {
        let server: TestServer
        let person: Person
        let rotation: FirstRotation
        let terms: FirstRotation.Terms

        func rotated(_ rotations: [FirstRotation], on terms: FirstRotation.Terms) async throws -> [FirstRotation] {
            let shared = SharedStatements(from: server.backend.database).rotations
            return Array(try await shared.values(rotations, terms).keys)
        }
    }

    private func withGrant(_ body: @Sendable @escaping (Grant) async throws -> Void) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let code = try await party.code(
                ["scope": "openid email offline_access"], cookie: party.browser(of: person))
            let token = try await party.redeem(code)["refresh_token"].string ?? ""
            var target = TokenTarget()
            target.available = ["": ["email", "offline_access", "openid"]]
            try await body(
                Grant(
                    server: server, person: person,
                    rotation: .random(of: try #require(server.backend.opaque.parse(token)).ofClient.hash),
                    terms: .init(
                        client: "web", issuer: "http://127.0.0.1:1", target: target,
                        of: try await server.application().id)))
        }
    }

    @Test func `a client's token is rotated only on the terms that its grant fits`() async throws {
        try await withGrant { grant in
            for spoil in Self.unfitting {
                var terms = grant.terms
                spoil(&terms)
                let rotated = try await grant.rotated([grant.rotation], on: terms)
                #expect(rotated.isEmpty, "\(terms)")
            }
            #expect(try await grant.rotated([grant.rotation], on: grant.terms) == [grant.rotation])
        }
    }

    /// Changes of the terms, after each of which the statement leaves the token out.
    private static let unfitting: [@Sendable (inout FirstRotation.Terms) -> Void] = [
        { ($0.client, $0.issuer) = (nil, nil) },
        { $0.client = "spa" },
        { $0.issuer = "http://127.0.0.1:2" },
        { $0.target.available = ["": ["phone"]] },
    ]

    @Test func `where a client needs consent, its token is rotated only if that contains the grant`() async throws {
        try await withGrant { grant in
            var terms = grant.terms
            terms.target.needsConsent = true
            for scopes in ["{openid,offline_access}", "{openid,email,offline_access}"] {
                #expect(try await grant.rotated([grant.rotation], on: terms).isEmpty)
                try await grant.server.execute(
                    """
                    INSERT INTO consents (application_id, uid, client_id, scopes, resources)
                    SELECT application_id, uid, 'web', $2::text[], '{}' FROM accounts WHERE uid = $1
                    ON CONFLICT (application_id, uid, client_id) DO UPDATE SET scopes = excluded.scopes
                    """, [.uuid(UUID(uuidString: grant.person.uid)), .text(scopes)])
            }
            #expect(try await grant.rotated([grant.rotation], on: terms) == [grant.rotation])
        }
    }

    @Test func `a token of the REST interface is left out beside a client's, and the other way round`() async throws {
        try await withGrant { grant in
            let token = try #require(grant.server.backend.opaque.parse(grant.person.refreshToken))
            let both = [grant.rotation, .random(of: token.hash)]
            #expect(try await grant.rotated(both, on: grant.terms) == [both[0]])
            #expect(try await grant.rotated(both, on: .rest(of: grant.terms.application)) == [both[1]])
        }
    }
}

extension FirstRotation {
    /// A rotation to a random successor.
    fileprivate static func random(of presented: [UInt8]) -> Self {
        Self(presented: presented, successor: (0..<32).map { _ in .random(in: 0...255) })
    }
}

extension FirstRotation.Terms {
    fileprivate static func rest(of application: Accounts.Application.ID) -> Self {
        Self(client: nil, issuer: nil, target: TokenTarget(), of: application)
    }

    fileprivate init(client: String?, issuer: String?, target: TokenTarget, of application: Accounts.Application.ID) {
        self.init(
            application: application, lifetime: .seconds(60), client: client, issuer: issuer, target: target)
    }
}
