import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Every end of an installation's session withdraws the installation, on every replica; and races for it.
struct InstanceEndTests {
    private typealias End = @Sendable (Installed) async throws -> Void

    private static let ends: KeyValuePairs<String, End> = [
        "deletion by the app": { installed in
            let deleted = try await installed.app.manage(.DELETE, installed.registration)
            #expect(deleted.status == 204, "\(deleted.text)")
        },
        "revocation of its token": { installed in
            let revoked = try await installed.app.post("/oauth/revoke", ["token": installed.tokens["first"] ?? ""])
            #expect(revoked.status == 200)
        },
        "reuse of a refresh token": { installed in
            _ = try await installed.app.refresh(installed.refreshTokens.new)
            try await installed.server.age("refresh_tokens", "created_at", by: "2 minutes")
            _ = try await installed.app.refresh(installed.refreshTokens.old)
        },
        "its session ended": { installed in
            let sid = try DecodedToken(installed.tokens["first"] ?? "").claims["sid"].string ?? ""
            #expect(try await installed.delete("/auth/sessions/\(sid)").status == 204)
        },
        "the grant taken back": { installed in
            let taken = try await installed.delete("/auth/grants/\(installed.app.client)")
            #expect(taken.status == 204, "\(taken.text)")
        },
        "sign-out everywhere": { installed in
            _ = try await installed.app.api.post(
                "/auth/logout", ["scope": "global"], bearer: installed.person.accessToken)
        },
        "the identity removed": { installed in
            let api = installed.app.api
            let linked = try await api.link(.somebody(), bearer: installed.person.accessToken)
            let id = try await api.identityID(of: "email", bearer: installed.person.accessToken)
            let removed = try await api.delete("/auth/identities/\(id)", bearer: linked["accessToken"].string)
            #expect(removed.status == 200, "\(removed.text)")
        },
        "the account disabled": { try await $0.server.setDisabled(true, $0.person) },
        "the account deleted": { installed in
            let deleted = try await installed.delete("/auth/account")
            #expect(deleted.status == 204, "\(deleted.text)")
        },
        "expiry": { installed in
            try await installed.server.execute("UPDATE sessions SET expires_at = now() WHERE client_id LIKE 'dyn~%'")
        },
    ]

    /// An installation on which a person is signed in, with access tokens of every kind.
    private struct Installed: Sendable {
        let app: RelyingParty
        let registration: APIClient.Answer
        let person: Person
        let server: TestServer
        let tokens: [String: String]
        let refreshTokens: (old: String, new: String)
        let css: String

        init(at server: TestServer, of person: Person) async throws {
            let (app, registration) = try await RelyingParty(server).install()
            (self.app, self.registration, self.person, self.server) = (app, registration, person, server)
            let first = try await app.bind(to: person, scope: "openid offline_access")
            let old = first["refresh_token"].string ?? ""
            let refreshed = try await app.refresh(old)
            refreshTokens = (old, try #require(refreshed["refresh_token"].string, "\(refreshed.text)"))
            var tokens = ["first": first["access_token"].string, "refreshed": refreshed["access_token"].string]
            for scope in ["openid", "account", "qr"] {
                tokens[scope] = try await app.credentials(scope)["access_token"].string
            }
            self.tokens = tokens.compactMapValues { $0 }
            css = try await app.nativeSecret()
        }

        func delete(_ path: String) async throws -> APIClient.Answer {
            try await app.api.delete(path, bearer: person.accessToken)
        }

        /// The places of a server that take the tokens.
        func places(at server: TestServer) -> [Place] {
            let (instance, desk) = (client(app.client, at: server), client("desk", at: server))
            var places = ["first", "refreshed", "openid"].map { taken($0, at: "/oauth/userinfo", by: instance) }
            places.append(taken("account", at: "/api/v1/auth/me", by: instance))
            for path in ["/api/v1", "/blitz/api/v3"] {
                // A token that may answer learns that there is no such code.
                let code = UUID().uuidString.lowercased()
                places.append(taken("qr", at: "\(path)/auth/qr/\(code)", by: instance, 404))
            }
            for kind in tokens.keys {
                let token = tokens[kind] ?? ""
                places.append(
                    Place(name: "\(kind) at the introspection") {
                        try await instance.post(instance.endpoints.introspection, ["token": token])["active"] == true
                    })
            }
            let token = tokens["account"] ?? ""
            places.append(Place(name: "account at another's introspection") { try await desk.isActive(token) })
            places.append(Place(name: "the pair") { try await instance.credentials("openid").status == 200 })
            return places
        }

        private func taken(_ kind: String, at path: String, by party: RelyingParty, _ good: Int = 200) -> Place {
            let token = tokens[kind]
            return Place(name: "\(kind) at \(path)") {
                let answer = try await party.api.send(.GET, path, bearer: token)
                #expect([good, 401, 403].contains(answer.status), "\(kind) at \(path): \(answer.text)")
                return answer.status == good
            }
        }

        func client(_ id: String, at server: TestServer) -> RelyingParty {
            var party = RelyingParty(server)
            (party.client, party.secret) = (id, id == app.client ? app.secret : RelyingParty.secret)
            return party
        }
    }

    /// A place where a token is presented, and whether it is taken there.
    private struct Place: Sendable {
        let name: String
        let takes: @Sendable () async throws -> Bool
    }

    /// How long after now each place took its token for the last time.
    private func lastAcceptances(
        at places: [Place], after end: String
    ) async throws -> [String: Duration] {
        let start = ContinuousClock.now
        var last: [String: Duration] = [:]
        try await eventually("every token is refused after: \(end)") {
            var isTaken = false
            for place in places {
                let began = ContinuousClock.now - start
                guard try await place.takes() else { continue }
                (isTaken, last[place.name]) = (true, began)
            }
            return !isTaken
        }
        return last
    }

    @Test func `each end of the session is the end of the installation, on every replica within a second`()
        async throws
    {
        let desk = "  desk: { name: Desk, secret: \"\(RelyingParty.secret)\", grants: [], introspects: [demo] }"
        let configuration =
            RelyingParty.instances().replacing("  clients:\n", with: "  clients:\n  \(desk)\n") + "\n  paths: [blitz]"
        try await TestServer.with(application: configuration, providers: "scripted: {}") { server in
            var people: [Person] = []
            for _ in Self.ends { people.append(try await APIClient(server).register(at: server)) }
            let persons = people
            try await TestServer.with(
                database: server.databaseURL, application: configuration, providers: "scripted: {}"
            ) { second in
                for ((name, end), person) in zip(Self.ends, persons) {
                    let installed = try await Installed(at: server, of: person)
                    let places = installed.places(at: second)
                    for place in places { #expect(try await place.takes(), "\(place.name) before: \(name)") }
                    try await end(installed)
                    // No session is marked as ended when it expires; its access tokens last until their own end.
                    let ending = name == "expiry" ? places.filter { $0.name == "the pair" } : places
                    for (place, time) in try await lastAcceptances(at: ending, after: name) {
                        #expect(time < .seconds(1), "\(place) after: \(name)")
                    }
                    let there = installed.client(installed.app.client, at: second)
                    #expect(try await there.credentials("openid").isOAuthError(401, "invalid_client"), "\(name)")
                    #expect(
                        try await installed.app.credentials("native").isOAuthError(401, "invalid_client"), "\(name)")
                    for token in [installed.refreshTokens.old, installed.refreshTokens.new] {
                        #expect(try await there.refresh(token).isOAuthError(401, "invalid_client"), "\(name)")
                    }
                    #expect(try await there.manage(.GET, installed.registration).status == 401, "\(name)")
                    let cookie = ["cookie": "css=\(installed.css)"] as HTTPHeaders
                    let asked = try await there.api.send(.GET, "/account", headers: cookie)
                    #expect(asked.headers["set-cookie"].allSatisfy { !$0.hasPrefix("gatehouse-sso") }, "\(name)")
                }
            }
        }
    }

    @Test func `a reset of the password ends installations`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let (app, _) = try await RelyingParty(server).install()
            let ada = try await app.api.register(at: server)
            let tokens = try await app.bind(to: ada)
            let mailed = try await app.api.forget(at: server, ada.email)
            #expect(try await app.api.reset(mailed, to: APIClient.otherPassword).status == 204)
            #expect(try await app.credentials("openid").isOAuthError(401, "invalid_client"))
            #expect(try await app.userInfo(tokens["access_token"].string ?? "").isOAuthError(401, "invalid_token"))
        }
    }

    @Test func `a deleted installation is gone at once, and a second deletion is refused`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let (app, registration) = try await RelyingParty(server).install()
            let tokens = try await app.bind(to: app.api.register(at: server), scope: "openid offline_access")
            #expect(try await app.manage(.DELETE, registration).status == 204)
            #expect(try await app.manage(.DELETE, registration).status == 401)
            #expect(try await app.credentials("openid").isOAuthError(401, "invalid_client"))
            #expect(try await app.userInfo(tokens["access_token"].string ?? "").isOAuthError(401, "invalid_token"))
            let refreshed = try await app.refresh(tokens["refresh_token"].string ?? "")
            #expect(refreshed.isOAuthError(401, "invalid_client"))
            let reasons = try await server.text(
                "SELECT string_agg(details->>'reason', ' ') FROM audit_events WHERE event = 'session.ended'")
            #expect(reasons == "instanceDeleted")
        }
    }

    @Test func `the installations of a merged account end with it`() async throws {
        try await TestServer.linking(application: RelyingParty.instances()) { server, api in
            let (survivor, absorbed) = (try await api.register(at: server), try await api.register(at: server))
            let (app, _) = try await RelyingParty(server).install()
            _ = try await app.bind(to: absorbed)
            _ = try await api.link(.somebody(absorbed.uid), bearer: absorbed.accessToken)
            let ticket = try await api.ticket(.somebody(absorbed.uid), bearer: survivor.accessToken)
            #expect(try await api.merge(ticket, bearer: survivor.accessToken, survivor: "current").status == 200)
            #expect(try await app.credentials("openid").isOAuthError(401, "invalid_client"))
        }
    }

    @Test func `what was allowed an installation is removed with it`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            let ((live, _), (deleted, registration)) = (try await party.install(), try await party.install())
            let ((idle, _), (unused, _)) = (try await party.install(), try await party.install())
            for app in [live, deleted, idle] { _ = try await app.bind(to: ada) }
            try await server.execute(
                """
                INSERT INTO consents (application_id, uid, client_id, scopes, resources)
                SELECT application_id, $1, client_id, '{openid}', '{}' FROM clients
                """, [.uuid(UUID(uuidString: ada.uid))])
            #expect(try await party.manage(.DELETE, registration).status == 204)
            try await server.age("sessions", "expires_at", by: "366 days", where: "client_id = '\(idle.client)'")
            try await server.age(
                "clients", "created_at", "expires_at", by: "61 minutes", where: "client_id = '\(unused.client)'")
            _ = try await server.sweep()
            #expect(try await server.text("SELECT string_agg(client_id, ' ') FROM clients") == live.client)
            #expect(try await server.text("SELECT string_agg(client_id, ' ') FROM consents") == live.client)
        }
    }

    // MARK: - Races

    @Test func `twenty first sign-ins at once leave one session`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let party = RelyingParty(server)
            let (ada, ben) = (try await party.api.register(at: server), try await party.api.register(at: server))
            let (app, _) = try await party.install()
            var codes: [String] = []
            for person in [ada, ben] {
                let cookie = try await party.browser(of: person)
                for _ in 0..<10 { codes.append(try await app.code(cookie: cookie)) }
            }
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { [codes] group in
                for code in codes { group.addTask { try await app.redeem(code) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.contains { $0.status == 200 })
            for answer in answers {
                #expect(
                    answer.status == 200 || answer.status == 503 || answer.isOAuthError(400, "invalid_grant"),
                    "\(answer.text)")
            }
            let live = try await server.count(
                "SELECT count(*) FROM sessions WHERE client_id LIKE 'dyn~%' AND ended_at IS NULL")
            #expect(live == 1)
            let owner = try DecodedToken(try await app.credentials("openid")["access_token"].string ?? "")
            let bound = try await server.text("SELECT uid::text FROM clients")
            #expect(owner.claims["sub"].string == bound)
        }
    }

    @Test func `a removal that races with the first sign-in leaves nothing`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            let cookie = try await party.browser(of: ada)
            for round in 0..<20 {
                let (app, registration) = try await party.install()
                if round.isMultiple(of: 2) { _ = try await app.bind(to: ada) }
                let code = try await app.code(cookie: cookie)
                async let redeemed = app.redeem(code)
                async let removed = app.manage(.DELETE, registration)
                let (tokens, removal) = (try await redeemed, try await removed)
                #expect(removal.status == 204, "\(removal.text)")
                #expect([200, 400, 401].contains(tokens.status), "\(tokens.text)")
                #expect(try await app.credentials("openid").isOAuthError(401, "invalid_client"))
                guard let access = tokens["access_token"].string else { continue }
                #expect(try await app.userInfo(access).isOAuthError(401, "invalid_token"))
            }
        }
    }
}
