import Foundation
import NIOHTTP1
import OpenID
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// How the back end of an app learns from introspection what the app's tokens are worth.
struct BearerIntrospectionTests {
    /// The application with a client `backend`, which has nothing else of the OpenID provider.
    private static func application(clients: String = "") -> String {
        """
        \(TimeTrackerApp.configuration("session: { idle: 10d, lifetime: 30d }"))
        openid:
          clients:
            backend: { name: Back end, secret: "\(RelyingParty.secret)", grants: [], introspects: [demo] }
            \(clients.replacing("\n", with: "\n    "))
        """
    }

    private static let otherApplication = """
          photos:
            audience: photos-app
            providers: { anonymous: { enabled: true } }
            openid:
              clients:
                backend: { name: Back end, secret: "\(RelyingParty.secret)", grants: [], introspects: [photos-app] }
        """

    private struct World: Sendable {
        let server: TestServer
        let app: TimeTrackerApp
        let backend: RelyingParty

        init(_ server: TestServer) {
            (self.server, app) = (server, TimeTrackerApp(api: APIClient(server)))
            backend = Self.backend(at: server)
        }

        static func backend(at server: TestServer, application: String? = nil) -> RelyingParty {
            var party = RelyingParty(server, application: application)
            party.client = "backend"
            return party
        }

        func introspect(_ token: String) async throws -> APIClient.Answer {
            try await backend.post("/oauth/introspect", ["token": token])
        }
    }

    private func with(
        clients: String = "", _ body: @Sendable @escaping (World) async throws -> Void
    ) async throws {
        try await TestServer.with(
            application: Self.application(clients: clients), providers: "scripted: {}", others: Self.otherApplication
        ) { server in try await body(World(server)) }
    }

    @Test func `the answer describes the session, and never the person`() async throws {
        try await with { world in
            let signedIn = try await world.app.signIn(.somebody("ada", email: "ada@example.com"))
            let common: Set = ["active", "token_type", "exp", "iat", "sub", "aud", "iss", "sid", "auth_time", "amr"]
            let answer = try await world.introspect(signedIn.accessToken)
            #expect(answer.json.keys == common, "\(answer.text)")
            #expect(answer["active"] == true && answer["token_type"] == "session_bearer" && answer["aud"] == "demo")
            #expect(answer["sub"].string == signedIn.user.id && answer["iss"] == "http://127.0.0.1:1")
            let left = Double(answer["exp"].integer ?? 0) - Date().timeIntervalSince1970
            #expect(abs(left - 10 * 86_400) < 120, "\(left)")
            let person = try await world.app.api.register(at: world.server)
            let ofAccess = try await world.introspect(person.accessToken)
            #expect(ofAccess.json.keys == common.union(["jti"]) && ofAccess["token_type"] == "Bearer")
            #expect(ofAccess["sub"].string == person.uid)
            for (text, secret) in [(answer.text, "ada@example.com"), (ofAccess.text, person.email)] {
                #expect(!text.contains(secret), "\(text)")
            }

            try await world.server.execute("UPDATE sessions SET elevated_until = now() + interval '15 minutes'")
            let unlocked = try await world.introspect(signedIn.accessToken)["elevated_until"].integer
            #expect(abs(Double(unlocked ?? 0) - Date().timeIntervalSince1970 - 900) < 120)
            try await world.server.execute("UPDATE sessions SET elevated_until = now()")
            #expect(try await world.introspect(signedIn.accessToken).json.keys == common)
            try await world.server.execute("UPDATE sessions SET is_borrowed = true")
            let refreshed = try await world.app.api.refresh(person.refreshToken)["accessToken"].string
            for token in [signedIn.accessToken, try #require(refreshed)] {
                #expect(try await world.introspect(token)["borrowed"] == true)
            }
        }
    }

    @Test func `introspection is a use of the bearer, which is written as any other`() async throws {
        try await with { world in
            let bearer = try await world.app.signIn(.somebody()).accessToken
            let used: StaticString = "SELECT count(*) FROM session_bearers WHERE used_at > now() - interval '1 hour'"
            for (idle, count) in [(23, 0), (25, 1)] {
                try await world.server.execute(
                    "UPDATE session_bearers SET used_at = now() - make_interval(hours => $1)", [.int4(Int32(idle))])
                let answers = try await atOnce(8) { try await world.introspect(bearer)["active"] == true }
                #expect(answers.allSatisfy { $0 })
                #expect(try await world.server.count(used) == count, "\(idle) hours")
            }
        }
    }

    @Test func `what is ended, unknown, another application's or no concern of the client is not active`() async throws
    {
        let others = """
            other: { name: Other, secret: "\(RelyingParty.secret)", grants: [] }
            app: { name: App, public: true, grants: [], introspects: [demo] }
            """
        try await with(clients: others) { world in
            let (bearer, ended) = (
                try await world.app.signIn(.somebody()).accessToken, try await world.app.signIn(.somebody()).accessToken
            )
            let person = try await world.app.api.register(at: world.server)
            let tokens = [bearer, person.accessToken]
            for token in tokens { #expect(try await world.backend.isActive(token)) }
            #expect(try await world.app.logout(ended).status == 200)
            let guest = try await APIClient(world.server, application: "photos").guest().accessToken
            for token in [
                ended, guest, person.refreshToken, String(bearer.dropFirst(4)), bearer + "A", "ghs_", "ghs_x",
                "ghs_" + String(repeating: "A", count: 43),
            ] {
                let answer = try await world.introspect(token)
                #expect(answer.status == 200 && answer.json == ["active": false], "\(token): \(answer.text)")
            }
            var other = world.backend
            other.client = "other"
            for token in tokens {
                #expect(try await !other.isActive(token))
                #expect(try await !World.backend(at: world.server, application: "photos").isActive(token))
            }
            (other.client, other.secret) = ("app", nil)
            #expect(try await other.post("/oauth/introspect", ["token": bearer]).isOAuthError(401, "invalid_client"))
            #expect(try await world.app.api.post("/auth/logout", bearer: bearer).status == 204)
            #expect(try await !world.backend.isActive(bearer))
        }
    }

    @Test func `the audit has one event a client and minute`() async throws {
        try await with { world in
            let bearer = try await world.app.signIn(.somebody()).accessToken
            let person = try await world.app.api.register(at: world.server)
            _ = try await atOnce(10) {
                for token in [bearer, person.accessToken, "ghs_x", "x"] { _ = try await world.introspect(token) }
            }
            let introspections = world.server.server.introspections
            #expect(try await introspections.moveToAudit(includingCurrentMinute: true))
            #expect(try await !introspections.moveToAudit(includingCurrentMinute: true))
            let events = try await world.server.audited().filter { $0.event == "token.introspected" }
            // If a new minute began meanwhile, there are two.
            #expect((1...2).contains(events.count), "\(events)")
            func sum(_ member: String) -> Int64 { events.reduce(0) { $0 + ($1.details[member].integer ?? 0) } }
            #expect(sum("count") == 40 && sum("active") == 20, "\(events)")
            #expect(events.allSatisfy { $0.account == nil && $0.details["client"] == "backend" })
            #expect(events.allSatisfy { $0.details["minute"].string?.hasSuffix(":00.000Z") == true }, "\(events)")
        }
    }
}
