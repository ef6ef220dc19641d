import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Rotation of refresh tokens.
struct RefreshTests {
    @Test func `a hundred parallel refreshes of one token agree on one successor`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let answers = try await atOnce(100) { try await client.refresh(guest.refreshToken) }
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(Set(answers.map { $0["refreshToken"] }).count == 1)
            #expect(answers.first?["refreshToken"].string != guest.refreshToken)
            #expect(Set(answers.map { $0["accessToken"] }).count == 100)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 2)
            let first = try #require(answers.first)
            #expect(first.json.keys == ["accessToken", "tokenType", "expiresIn", "refreshToken"])
            #expect(first["tokenType"] == "Bearer" && first["expiresIn"] == 3600)
            let bearer = try #require(first["accessToken"].string)
            #expect(try await client.get("/auth/me", bearer: bearer)["id"].string == guest.uid)
        }
    }

    @Test func `tokens that are presented at the same moment are each decided by themselves`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (stale, _, latest) = try await twoGenerations(client)
            let gone = try await client.guest()
            _ = try await client.post("/auth/logout", bearer: gone.accessToken)
            try await server.letPass(.seconds(11))
            var guests: [Person] = []
            for _ in 1...40 { guests.append(try await client.guest()) }
            let refused = [stale.refreshToken, gone.refreshToken]
            let presented = guests.flatMap { [$0.refreshToken, $0.refreshToken] } + refused
            let answers = try await refresh(presented, with: client)
            for guest in guests {
                let own = answers[guest.refreshToken] ?? []
                #expect(own.map(\.status) == [200, 200] && Set(own.map { $0["refreshToken"] }).count == 1)
                for answer in own {
                    let bearer = answer["accessToken"].string ?? ""
                    #expect(try await client.get("/auth/me", bearer: bearer)["id"].string == guest.uid)
                }
            }
            for token in refused {
                for answer in answers[token] ?? [] { expectError(answer, 401, "INVALID_REFRESH_TOKEN") }
            }
            expectError(try await client.get("/auth/me", bearer: latest.accessToken), 401, "INVALID_TOKEN")
            #expect(
                try await server.count("SELECT count(*) FROM audit_events WHERE event = 'session.refresh-reused'") == 1)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 3 + 1 + 80)
        }
    }

    /// Presents all tokens at the same moment, in any order; returns the answers by token.
    private func refresh(_ tokens: [String], with client: APIClient) async throws -> [String: [APIClient.Answer]] {
        try await withThrowingTaskGroup(of: (String, APIClient.Answer).self) { group in
            for token in tokens.shuffled() { group.addTask { (token, try await client.refresh(token)) } }
            return try await group.reduce(into: [:]) { answers, next in answers[next.0, default: []].append(next.1) }
        }
    }

    /// Rotates the token twice, so that the first token's successor has been presented.
    private func twoGenerations(_ client: APIClient) async throws -> (guest: Person, successor: String, latest: Person)
    {
        let guest = try await client.guest()
        let successor = try #require(try await client.refresh(guest.refreshToken)["refreshToken"].string)
        let answer = try await client.refresh(successor)
        let latest = Person(
            email: "", password: "", uid: guest.uid, accessToken: try #require(answer["accessToken"].string),
            refreshToken: try #require(answer["refreshToken"].string))
        return (guest, successor, latest)
    }

    @Test func `within the interval an old token gives its successor again`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (guest, successor, latest) = try await twoGenerations(client)
            try await server.letPass(.seconds(5))
            let again = try await client.refresh(guest.refreshToken)
            #expect(again.status == 200 && again["refreshToken"].string == successor, "\(again.text)")
            #expect(try await client.refresh(latest.refreshToken).status == 200)
        }
    }

    @Test func `a token whose successor was never presented works during the recovery time`() async throws {
        for (tokens, hours) in [("algorithm: ES256", 72), ("algorithm: ES256, refreshRecovery: 3h", 3)] {
            try await TestServer.with(tokens: tokens) { server in
                let client = APIClient(server)
                let (guest, other) = (try await client.guest(), try await client.guest())
                let successor = try #require(try await client.refresh(guest.refreshToken)["refreshToken"].string)
                let unpresented = try await client.refresh(other.refreshToken)
                for _ in 1..<3 {
                    try await server.letPass(.seconds(hours * 3600 / 3))
                    let again = try await client.refresh(guest.refreshToken)
                    #expect(again.status == 200 && again["refreshToken"].string == successor, "\(again.text)")
                }
                #expect(try await client.refresh(successor).status == 200)
                try await server.letPass(.seconds(hours * 3600 / 3))
                expectError(try await client.refresh(other.refreshToken), 401, "INVALID_REFRESH_TOKEN")
                for token in [other.refreshToken, unpresented["refreshToken"].string ?? ""] {
                    expectError(try await client.refresh(token), 401, "INVALID_REFRESH_TOKEN")
                }
                expectError(try await client.get("/auth/me", bearer: other.accessToken), 401, "INVALID_TOKEN")
                #expect(
                    try await server.count("SELECT count(*) FROM audit_events WHERE event = 'session.refresh-reused'")
                        == 1)
            }
        }
    }

    @Test func `an access token never outlives its session`() async throws {
        try await TestServer.with(
            providers: "scripted: {}", tokens: "algorithm: ES256, accessLifetime: 3600, sessionLifetime: 1500"
        ) { server in
            let client = APIClient(server)
            let guest = try await client.post("/auth/anonymous")
            let person = try await client.register(at: server)
            let opened = [
                guest, try await client.login(person.email), try await client.present(.somebody("ada")),
                try await client.present(.somebody("ada")),
            ]
            for answer in opened {
                #expect((1498...1500).contains(answer["expiresIn"].integer ?? 0), "\(answer.text)")
                let claims = try DecodedToken(answer["accessToken"].string ?? "").claims
                let life = (claims["exp"].integer ?? 0) - (claims["iat"].integer ?? 0)
                #expect(answer["expiresIn"].integer == life && answer["auth"]["expires"] == claims["exp"])
            }
            try await server.age("sessions", "expires_at", by: "900 seconds")
            let refreshed = try await client.refresh(guest["refreshToken"].string ?? "")
            #expect((590...600).contains(refreshed["expiresIn"].integer ?? 0), "\(refreshed.text)")
            let upgraded = try await client.link(.somebody("eve"), bearer: guest["accessToken"].string ?? "")
            #expect((590...600).contains(upgraded["expiresIn"].integer ?? 0), "\(upgraded.text)")
        }
    }

    @Test func `a token two generations old, after its interval, ends the session`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (guest, successor, latest) = try await twoGenerations(client)
            let bystander = try await client.guest()
            try await server.letPass(.seconds(11))
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            for token in [guest.accessToken, latest.accessToken] {
                expectError(try await client.get("/auth/me", bearer: token), 401, "INVALID_TOKEN")
            }
            for token in [guest.refreshToken, successor, latest.refreshToken] {
                expectError(try await client.refresh(token), 401, "INVALID_REFRESH_TOKEN")
            }
            let audited = try await server.text(
                "SELECT string_agg(details::text, ' ') FROM audit_events WHERE event = 'session.refresh-reused'")
            #expect(audited == #"{"kind": "api"}"#)
            #expect(try await client.get("/auth/me", bearer: bystander.accessToken).status == 200)
            #expect(try await client.refresh(bystander.refreshToken).status == 200)
        }
    }

    @Test func `many concurrent reuses end the session once and are audited once`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (guest, _, latest) = try await twoGenerations(client)
            try await server.letPass(.seconds(11))
            let answers = try await atOnce(20) { try await client.refresh(guest.refreshToken) }
            #expect(answers.allSatisfy { $0.code == "INVALID_REFRESH_TOKEN" })
            #expect(
                try await server.count("SELECT count(*) FROM audit_events WHERE event = 'session.refresh-reused'") == 1)
            expectError(try await client.refresh(latest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
        }
    }

    @Test(.needsOneNode) func `a reuse whose ends fail ends everything at the next presentation`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let client = APIClient(server)
            let (guest, _, _) = try await twoGenerations(client)
            _ = try await RelyingParty(server).browser(of: guest)
            try await server.backend.database.transaction {
                try await $0.script(
                    """
                    UPDATE sessions SET has_lent = true WHERE kind = 'api';
                    UPDATE sessions SET parent_id = (SELECT id FROM sessions WHERE kind = 'api') WHERE kind = 'browser';
                    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''fails''; END';
                    CREATE TRIGGER failing BEFORE UPDATE ON sessions FOR EACH ROW
                        WHEN (new.kind = 'browser' AND new.ended_at IS NOT NULL) EXECUTE FUNCTION fail();
                    """)
            }
            try await server.letPass(.seconds(11))
            #expect(try await client.refresh(guest.refreshToken).status >= 500)
            try await server.execute("DROP TRIGGER failing ON sessions")
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE ended_at IS NULL") == 0)
        }
    }

    @Test func `malformed refresh tokens are refused`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let token = guest.refreshToken
            let refused = [
                "", "x", String(token.dropLast()), token + "A", token + "=", " " + token, token.uppercased(),
                String(repeating: "A", count: 43), String(repeating: "é", count: 43), guest.accessToken,
                String(repeating: "A", count: 50_000), "' OR 1=1 --",
            ]
            for text in refused {
                expectError(try await client.refresh(text), 401, "INVALID_REFRESH_TOKEN", String(text.prefix(50)))
            }
            #expect(try await client.refresh(token).status == 200)
        }
    }

    @Test func `refreshing never moves the time of authentication`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let signedIn = try #require(DecodedToken(guest.accessToken).claims["auth_time"].integer)
            try await server.letPass(.seconds(1000))
            var refreshToken = guest.refreshToken
            for _ in 1...3 {
                let answer = try await client.refresh(refreshToken)
                refreshToken = try #require(answer["refreshToken"].string)
                let claims = try DecodedToken(try #require(answer["accessToken"].string)).claims
                #expect(claims["auth_time"].integer == signedIn - 1000)
                let issued = try #require(claims["iat"].integer)
                #expect(issued >= signedIn)
                #expect(claims["amr"] == [] || claims["amr"] == .null)
            }
        }
    }

    @Test func `refreshing extends the refresh token's lifetime but not the session's`() async throws {
        try await TestServer.with(tokens: "algorithm: ES256, refreshLifetime: 1000, sessionLifetime: 1500") { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            try await server.age("refresh_tokens", "expires_at", by: "900 seconds")
            try await server.age("sessions", "expires_at", by: "900 seconds")
            let successor = try #require(try await client.refresh(guest.refreshToken)["refreshToken"].string)
            let left = try await server.count(
                "SELECT round(extract(epoch FROM max(expires_at) - now()))::int8 FROM refresh_tokens")
            #expect((590...600).contains(left), "the session's end bounds the token's: \(left)")
            try await server.execute("UPDATE refresh_tokens SET expires_at = now() - interval '1 second'")
            expectError(try await client.refresh(successor), 401, "INVALID_REFRESH_TOKEN")
        }
    }

    @Test func `a session ends with its absolute lifetime`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            try await server.execute("UPDATE sessions SET expires_at = now() - interval '1 second'")
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
        }
    }
}
