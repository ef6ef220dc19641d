import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Every end of an installation's session withdraws the installation, on every replica; and races for it.
struct InstanceEndTests {
    private typealias End = @Sendable (RelyingParty, APIClient.Answer, Person, TestServer) async throws -> Void

    private static let ends: KeyValuePairs<String, End> = [
        "revocation of its token": { app, tokens, _, _ in
            _ = try await app.post("/oauth/revoke", ["token": tokens["access_token"].string ?? ""])
        },
        "reuse of a refresh token": { app, tokens, _, server in
            let first = tokens["refresh_token"].string ?? ""
            let second = try await app.refresh(first)["refresh_token"].string ?? ""
            _ = try await app.refresh(second)
            try await server.age("refresh_tokens", "created_at", by: "2 minutes")
            _ = try await app.refresh(first)
        },
        "its session ended": { app, tokens, person, _ in
            let sid = try DecodedToken(tokens["access_token"].string ?? "").claims["sid"].string ?? ""
            #expect(try await app.api.delete("/auth/sessions/\(sid)", bearer: person.accessToken).status == 204)
        },
        "the grant taken back": { app, _, person, _ in
            let answer = try await app.api.delete("/auth/grants/\(app.client)", bearer: person.accessToken)
            #expect(answer.status == 204)
        },
        "sign-out everywhere": { app, _, person, _ in
            _ = try await app.api.post("/auth/logout", ["scope": "global"], bearer: person.accessToken)
        },
        "the account disabled": { _, _, person, server in try await server.setDisabled(true, person) },
        "the account deleted": { app, _, person, _ in
            let answer = try await app.api.delete("/auth/account", bearer: person.accessToken)
            #expect(answer.status == 204)
        },
        "expiry": { _, _, _, server in
            try await server.execute("UPDATE sessions SET expires_at = now() WHERE client_id LIKE 'dyn~%'")
        },
    ]

    @Test func `each end of the session is the end of the installation, on every replica`() async throws {
        let configuration = RelyingParty.instances()
        try await TestServer.with(application: configuration) { server in
            var people: [Person] = []
            for _ in Self.ends { people.append(try await APIClient(server).register(at: server)) }
            let persons = people
            try await TestServer.with(database: server.databaseURL, application: configuration) { second in
                for ((name, end), person) in zip(Self.ends, persons) {
                    let (app, registration) = try await RelyingParty(server).install()
                    var there = RelyingParty(second)
                    (there.client, there.secret) = (app.client, app.secret)
                    let tokens = try await app.bind(to: person, scope: "openid offline_access")
                    let access = tokens["access_token"].string ?? ""
                    #expect(try await there.credentials("openid").status == 200, "\(name)")
                    #expect(try await there.userInfo(access).status == 200, "\(name)")
                    let secret = try await app.nativeSecret()
                    try await end(app, tokens, person, server)
                    #expect(try await there.credentials("openid").isOAuthError(401, "invalid_client"), "\(name)")
                    #expect(try await app.credentials("native").isOAuthError(401, "invalid_client"), "\(name)")
                    let refreshed = try await there.refresh(tokens["refresh_token"].string ?? "")
                    #expect(refreshed.isOAuthError(401, "invalid_client"), "\(name)")
                    #expect(try await app.manage(.GET, registration).status == 401, "\(name)")
                    if name != "expiry" {
                        try await eventually("the other replica learns of: \(name)") {
                            try await there.userInfo(access).status == 401
                        }
                    }
                    let cookie = ["cookie": "css=\(secret)"] as HTTPHeaders
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
