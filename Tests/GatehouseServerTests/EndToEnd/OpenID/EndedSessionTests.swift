import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Codes and tokens of sessions that end before a code is redeemed, while it is redeemed, or on another replica.
struct EndedSessionTests {
    /// The ends of all sessions of a person in the browser.
    private static let ends = SessionEnds.ofAccount + otherEnds

    private static let otherEnds: [SessionEnd] = [
        (
            "sign-out of the others",
            { person, server in
                {
                    try await APIClient(server).post("/auth/logout", ["scope": "others"], bearer: person.accessToken)
                        .status
                }
            }
        ),
        (
            "the account merged into another",
            { person, server in
                let (api, survivor) = (APIClient(server), try await APIClient(server).register(at: server))
                _ = try await api.link(.somebody(person.uid), bearer: person.accessToken)
                let ticket = try await api.ticket(.somebody(person.uid), bearer: survivor.accessToken)
                return { try await api.merge(ticket, bearer: survivor.accessToken, survivor: "current").status }
            }
        ),
        (
            "the identity removed",
            { person, server in
                let api = APIClient(server)
                _ = try await api.link(.somebody(person.uid), bearer: person.accessToken)
                let id = try await api.identityID(of: "scripted", bearer: person.accessToken)
                try await server.execute(
                    "UPDATE sessions SET identity_id = $1 WHERE uid = $2 AND kind <> 'api'",
                    [.uuid(UUID(uuidString: id)), .uuid(UUID(uuidString: person.uid))])
                return { try await api.delete("/auth/identities/\(id)", bearer: person.accessToken).status }
            }
        ),
    ]

    @Test func `removing an identity ends the clients of its browser session, whatever opened them`() async throws {
        try await TestServer.linking(application: RelyingParty.configuration) { server, api in
            let party = RelyingParty(server)
            let person = try await api.register(at: server)
            _ = try await api.link(.somebody(person.uid), bearer: person.accessToken)
            let id = try await api.identityID(of: "scripted", bearer: person.accessToken)
            let cookie = try await party.browser(of: person)
            let tokens = try await party.redeem(party.code(cookie: cookie))
            // The person has proven the identity in the browser while the client's session was being opened.
            try await server.execute(
                "UPDATE sessions SET identity_id = $1 WHERE kind = 'browser'", [.uuid(UUID(uuidString: id))])
            #expect(try await api.delete("/auth/identities/\(id)", bearer: person.accessToken).status == 200)
            #expect(try await party.userInfo(tokens["access_token"].string ?? "").isOAuthError(401, "invalid_token"))
        }
    }

    /// The ends of the browser session alone, which a client with offline access survives.
    private static let endsOfBrowser: [SessionEnd] = [
        SessionEnds.ofBrowser,
        (
            "the browser session expired",
            { person, server in
                {
                    try await server.execute(
                        "UPDATE sessions SET expires_at = now() WHERE uid = $1 AND kind = 'browser'",
                        [.uuid(UUID(uuidString: person.uid))])
                    return 204
                }
            }
        ),
    ]

    private static let offline = ["scope": "openid offline_access"]

    @Test func `a code is nothing once its session or its account has ended`() async throws {
        try await TestServer.linking(application: RelyingParty.configuration) { server, api in
            let party = RelyingParty(server)
            for (ends, endsAll) in [(Self.ends, true), (Self.endsOfBrowser, false)] {
                for (name, end) in ends {
                    let person = try await api.register(at: server)
                    let cookie = try await party.browser(of: person)
                    let tokens = try await party.redeem(party.code(Self.offline, cookie: cookie))
                    let call = try await end(person, server)
                    let code = try await party.code(cookie: cookie)
                    #expect(try await (200..<300).contains(call()), "\(name)")
                    #expect(try await party.redeem(code).isOAuthError(400, "invalid_grant"), "\(name)")
                    let silent = try await party.authorize(["prompt": "none"], cookie: cookie)
                    #expect(silent.returned("error") == "login_required", "\(name)")
                    let access = tokens["access_token"].string ?? ""
                    #expect(try await (party.userInfo(access).status == 401) == endsAll, "\(name)")
                    #expect(try await party.isActive(access) != endsAll, "\(name)")
                    let refreshed = try await party.refresh(tokens["refresh_token"].string ?? "")
                    #expect(refreshed.isOAuthError(400, "invalid_grant") == endsAll, "\(name): \(refreshed.text)")
                }
            }
        }
    }

    @Test func `an end that races with redemptions leaves no session of a client`() async throws {
        try await TestServer.linking(application: RelyingParty.configuration) { server, api in
            let party = RelyingParty(server)
            for (name, end) in Self.ends {
                for _ in 0..<3 {
                    let person = try await api.register(at: server)
                    let cookie = try await party.browser(of: person)
                    let call = try await end(person, server)
                    var codes: [String] = []
                    for _ in 0..<6 { codes.append(try await party.code(Self.offline, cookie: cookie)) }
                    async let ended = call()
                    let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { [codes] group in
                        for code in codes { group.addTask { try await party.redeem(code) } }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(try await (200..<300).contains(ended), "\(name)")
                    for answer in answers {
                        #expect(answer.status == 200 || answer.isOAuthError(400, "invalid_grant"), "\(answer.text)")
                        let access = answer["access_token"].string ?? ""
                        #expect(try await party.userInfo(access).status == 401, "\(name)")
                    }
                    let live = try await server.count(
                        "SELECT count(*) FROM sessions WHERE uid = $1 AND kind <> 'api' AND ended_at IS NULL",
                        [.uuid(UUID(uuidString: person.uid))])
                    #expect(live == 0, "\(name)")
                }
            }
        }
    }

    @Test(.needsOneNode)
    func `an end waits for a redemption that has begun, and ends the session that it opens`() async throws {
        try await TestServer.linking(application: RelyingParty.configuration) { server, api in
            let party = RelyingParty(server)
            for (name, end) in Self.ends {
                let person = try await api.register(at: server)
                _ = try await party.browser(of: person)
                let (call, uid) = (try await end(person, server), Bind.uuid(UUID(uuidString: person.uid)))
                let ended = try await server.backend.database.transaction { transaction in
                    for statement in [Self.lockAccount, Self.openClientSession] {
                        _ = try await transaction.execute(statement, uid)
                    }
                    let ended = Task { try await call() }
                    try await server.awaitBlocked(1)
                    return ended
                }
                #expect(try await (200..<300).contains(ended.value), "\(name)")
                let live = try await server.count(
                    "SELECT count(*) FROM sessions WHERE uid = $1 AND kind = 'client' AND ended_at IS NULL", [uid])
                #expect(live == 0, "\(name)")
            }
        }
    }

    /// What a redemption locks, and what it then inserts.
    private static let lockAccount = Statement(.write, "SELECT uid FROM accounts WHERE uid = $1 FOR SHARE")
    private static let openClientSession = Statement(
        .write,
        """
        INSERT INTO sessions
               (application_id, id, uid, identity_id, methods, authenticated_at, expires_at, kind, parent_id, client_id,
                issuer, outlives_parent, last_used_at)
        SELECT application_id, gen_random_uuid(), uid, identity_id, methods, authenticated_at, expires_at, 'client', id,
               'web', 'http://127.0.0.1:1', true, now()
          FROM sessions WHERE uid = $1 AND kind = 'browser'
        """)

    @Test func `replicas redeem a code once, and each learns what the other has ended`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            // Registered before the second replica starts, because either of them may send the mail.
            let person = try await APIClient(server).register(at: server)
            try await TestServer.with(database: server.databaseURL, application: RelyingParty.configuration) { second in
                let (here, there) = (RelyingParty(server), RelyingParty(second))
                let cookie = try await here.browser(of: person)
                let ends: KeyValuePairs<String, @Sendable (String, APIClient.Answer) async throws -> Void> = [
                    "revocation": { _, tokens in
                        _ = try await here.post("/oauth/revoke", ["token": tokens["refresh_token"].string ?? ""])
                    },
                    "replay": { code, _ in
                        try await server.age("authorization_codes", "redeemed_at", by: "3 seconds")
                        _ = try await here.redeem(code)
                    },
                    "the grant taken back": { _, _ in
                        _ = try await here.api.delete("/auth/grants/web", bearer: person.accessToken)
                    },
                ]
                for (name, end) in ends {
                    var (code, answers) = ("", [APIClient.Answer]())
                    // A redemption two seconds after the first one is a replay, so on a slow machine this is tried again.
                    for _ in 1...20 {
                        let (issued, began) = (try await here.code(Self.offline, cookie: cookie), ContinuousClock.now)
                        answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                            for party in [here, there, here, there] { group.addTask { try await party.redeem(issued) } }
                            return try await group.reduce(into: []) { $0.append($1) }
                        }
                        code = issued
                        if ContinuousClock.now - began < .seconds(2) { break }
                    }
                    let tokens = try #require(answers.first { $0.status == 200 }, "\(name)")
                    #expect(answers.filter { $0.isOAuthError(400, "invalid_grant") }.count == 3, "\(name)")
                    let access = tokens["access_token"].string ?? ""
                    #expect(try await there.isActive(access), "\(name)")
                    #expect(try await there.userInfo(access).status == 200, "\(name)")
                    try await end(code, tokens)
                    try await eventually("the other replica learns of: \(name)") {
                        try await !there.isActive(access)
                    }
                    #expect(try await there.userInfo(access).isOAuthError(401, "invalid_token"), "\(name)")
                    let refreshed = try await there.refresh(tokens["refresh_token"].string ?? "")
                    #expect(refreshed.isOAuthError(400, "invalid_grant"), "\(name)")
                }
            }
        }
    }
}
