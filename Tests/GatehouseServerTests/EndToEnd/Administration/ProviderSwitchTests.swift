import Accounts
import Administration
import Delivery
import Foundation
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// The life of a switch: what confirms it, what it does, and what ends it.
struct ProviderSwitchTests {
    private static let admin = "{ application: demo }"

    private func with(
        application: String = "", scripted: String = "{}", others: String = "",
        _ body: @escaping @Sendable (TestServer, APIClient, String) async throws -> Void
    ) async throws {
        try await TestServer.with(
            application: application, providers: "scripted: \(scripted)", others: others, admin: Self.admin
        ) { server in
            try await body(server, APIClient(server), try await server.serviceKey())
        }
    }

    /// Stores a switch of `scripted` to `off`, and an account, of an application that no server works on.
    private func storeSwitch(at server: TestServer) async throws -> (application: Application.ID, uid: UUID, id: UUID) {
        let (uid, id) = (UUID(), UUID())
        try await server.execute(
            "INSERT INTO accounts (application_id, uid, audit_key) VALUES (999, $1, sha256('key'))", [.uuid(uid)])
        try await server.execute(
            """
            INSERT INTO provider_switches (application_id, id, provider, mode, file_mode, until)
            VALUES (999, $1, 'scripted', 'off', 'open', now() + interval '1 day')
            """, [.uuid(id)])
        return (999, uid, id)
    }

    private func provider(_ name: String, _ client: APIClient, _ key: String) async throws -> JSONValue {
        let answer = try await client.get("/admin/providers", bearer: key)
        try #require(answer.status == 200, "\(answer.text)")
        return try #require(answer["items"].array?.first { $0["name"].string == name })
    }

    @Test func `a switch refuses sign-ins until it ends, and leaves everybody as before`() async throws {
        try await with { server, client, key in
            let person = try await client.newcomer("ada")
            let identity = try await server.text("SELECT md5(string_agg(i::text, ',')) FROM identities i")
            let events = try await server.audited {
                let plan = try await client.plan("scripted", "off", key)
                let switched = try await client.switchProvider("scripted", plan, key)
                #expect(switched.status == 200, "\(switched.text)")
                #expect(switched["mode"] == "off" && switched["fileMode"] == "open")
                #expect(switched["switch"]["mode"] == "off")
                #expect(switched["switch"]["until"].string?.hasSuffix("Z") == true)
                expectError(try await client.present(.somebody("ada"), to: "scripted"), 403, "PROVIDER_DISABLED")
                let listed = try await client.get("/auth/providers")["providers"].array ?? []
                #expect(!listed.contains { $0["name"] == "scripted" })
                // Sessions stay unless they are to end.
                #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)
                for _ in 0..<2 {
                    let ended = try await client.endSwitch("scripted", key)
                    #expect(ended.status == 200 && ended["switch"] == .null && ended["mode"] == "open")
                }
            }
            #expect(try await server.text("SELECT md5(string_agg(i::text, ',')) FROM identities i") == identity)
            #expect(try await client.present(.somebody("ada"), to: "scripted")["user"]["id"].string == person.uid)
            let acts = events.filter { $0.event.hasPrefix("provider.") }
            #expect(acts.map(\.event) == ["provider.switched", "provider.switch-ended"])
            let made = try #require(acts.first?.details)
            #expect(made["from"] == "open" && made["to"] == "off" && made["stranded"] == 1)
            #expect(made["reason"]["code"] == "person-asked" && made["actor"]["key"].string != nil)
            #expect(acts.last?.details["because"] == "ended" && acts.last?.details["provider"] == "scripted")
        }
    }

    @Test func `only the exact phrase confirms a plan, which then serves once`() async throws {
        try await with { _, client, key in
            let plan = try await client.plan("scripted", "off", key)
            for phrase: JSONValue in ["demo/scripted OFF", "demo/scripted off ", "photos/scripted off", "", .null] {
                let refused = try await client.switchProvider("scripted", plan, key, ["confirm": phrase])
                expectError(refused, 409, "CONFIRMATION_REQUIRED")
            }
            let other = try await client.switchProvider("email", plan, key)
            expectError(other, 409, "PLAN_STALE")
            #expect(try await client.switchProvider("scripted", plan, key).status == 200)
            expectError(try await client.switchProvider("scripted", plan, key), 409, "PLAN_STALE")
            let noReason = try await client.put(
                "/admin/providers/scripted/switch", ["plan": plan["id"], "confirm": plan["confirm"]], bearer: key)
            expectError(noReason, 400, "MISSING_PARAMETER")
        }
    }

    @Test func `a plan is stale once it is old, unknown, another application's, or no longer true`() async throws {
        try await with(others: TestServer.photos) { server, client, key in
            for id in [UUID().uuidString, "x", ""] {
                let unknown = try await client.switchProvider(
                    "scripted", ["id": .string(id), "confirm": "demo/scripted off"], key)
                expectError(unknown, 409, "PLAN_STALE")
            }

            // Both applications have a provider of that name.
            let photos = APIClient(server, application: "photos")
            let foreignKey = try await server.serviceKey(of: "photos")
            let mine = try await client.plan("email", "off", key)
            expectError(try await photos.switchProvider("email", mine, foreignKey), 409, "PLAN_STALE")
            expectError(try await photos.switchProvider("email", mine, key), 404, "UNKNOWN_APPLICATION")

            let old = try await client.plan("scripted", "off", key)
            try await server.age("provider_plans", "created_at", by: "601 seconds")
            expectError(try await client.switchProvider("scripted", old, key), 409, "PLAN_STALE")

            let (first, second) = (
                try await client.plan("scripted", "off", key), try await client.plan("scripted", "linkOnly", key)
            )
            #expect(try await client.switchProvider("scripted", first, key).status == 200)
            expectError(try await client.switchProvider("scripted", second, key), 409, "PLAN_STALE")
            #expect(try await client.endSwitch("scripted", key).status == 200)

            // Ten more are tolerated where nobody was stranded, and twelve are not where ten were.
            for (count, status) in [(10, 200), (12, 409)] {
                let plan = try await client.plan("scripted", "off", key)
                for _ in 0..<count { _ = try await client.newcomer() }
                let answer = try await client.switchProvider("scripted", plan, key)
                #expect(answer.status == status, "\(count): \(answer.text)")
                _ = try await client.endSwitch("scripted", key)
            }
        }
    }

    @Test func `more than a tenth and ten more make a plan stale`() {
        func isOutgrown(_ planned: Int, by stranded: Int) -> Bool {
            StoredPlan(id: UUID(), provider: "x", from: .open, to: .off, stranded: planned).isOutgrown(by: stranded)
        }
        #expect(!isOutgrown(0, by: 10) && isOutgrown(0, by: 11))
        #expect(!isOutgrown(100, by: 120) && isOutgrown(100, by: 121))
        #expect(!isOutgrown(100, by: 0))
    }

    @Test(arguments: [("none", "off"), ("narrower", "open")])
    func `an application may permit no switch, or narrower ones only`(switches: String, mode: String) async throws {
        try await with(
            application: "console: { switches: \(switches) }", scripted: "{ mode: existing }"
        ) { server, client, key in
            let plan = try await client.plan("scripted", mode, key)
            expectError(try await client.switchProvider("scripted", plan, key), 409, "WRONG_STATE")
            #expect(try await server.count("SELECT count(*) FROM provider_switches") == 0)
        }
    }

    @Test func `with switches any a mode may be wider, but not of a provider without settings`() async throws {
        try await with(
            application: "console: { switches: any }", scripted: "{ mode: existing }"
        ) { _, client, key in
            expectError(try await client.present(.somebody("new"), to: "scripted"), 403, "PROVIDER_DISABLED")
            let plan = try await client.plan("scripted", "open", key)
            #expect(try await client.switchProvider("scripted", plan, key).status == 200)
            #expect(try await client.present(.somebody("new"), to: "scripted").status == 200)
        }
        try await with(application: "console: { switches: any }", scripted: "{ mode: off }") { _, client, key in
            let plan = try await client.plan("scripted", "open", key)
            expectError(try await client.switchProvider("scripted", plan, key), 409, "WRONG_STATE")
        }
    }

    @Test func `a registration that waits for its mail is refused by the mode, and waits on`() async throws {
        try await with { server, client, key in
            let token = try await client.pend(at: server, "ada@example.com")
            let plan = try await client.plan("email", "existing", key)
            #expect(try await client.switchProvider("email", plan, key).status == 200)
            let refused = try await client.verify(token)
            expectError(refused, 403, "PROVIDER_DISABLED")
            #expect(refused["error"]["details"]["rule"] == "provider.no-sign-up", "\(refused.text)")
            #expect(try await client.endSwitch("email", key).status == 200)
            #expect(try await client.verify(token).status == 200)
        }
    }

    @Test func `until is at most 30 days ahead`() async throws {
        try await with { _, client, key in
            let day: TimeInterval = 86_400
            for (until, status) in [(31 * day, 400), (-day, 400), (29 * day, 200)] {
                let plan = try await client.plan("scripted", "off", key)
                let text = Date().addingTimeInterval(until).formatted(.iso8601)
                let answer = try await client.switchProvider("scripted", plan, key, ["until": .string(text)])
                #expect(answer.status == status, "\(answer.text)")
            }
            let plan = try await client.plan("scripted", "existing", key)
            let odd = try await client.switchProvider("scripted", plan, key, ["until": "tomorrow"])
            expectError(odd, 400, "INVALID_PARAMETER")
        }
    }

    @Test func `the last owner can't be locked out, whatever the phrase`() async throws {
        try await with { server, client, key in
            let ada = try await client.newcomer("ada")
            let uid = try #require(UUID(uuidString: ada.uid))
            let grants = AdminGrants(store: server.backend.store, home: try await server.application())
            try await grants.grant(.owner, to: uid, on: nil, by: TestServer.operations)
            let plan = try await client.plan("scripted", "off", key)
            #expect(plan["admins"] == ["affected": 1, "lastOwner": true, "you": false])
            let refused = try await client.switchProvider("scripted", plan, key)
            expectError(refused, 409, "WOULD_LOCK_OUT_ADMINS")
            expectError(
                try await client.switchProvider("scripted", plan, key, ["confirm": "yes"]), 409,
                "CONFIRMATION_REQUIRED")
            #expect(try await client.present(.somebody("ada"), to: "scripted").status == 200)

            let bob = try await client.register(at: server)
            try await grants.grant(.owner, to: #require(UUID(uuidString: bob.uid)), on: nil, by: TestServer.operations)
            let again = try await client.plan("scripted", "off", key)
            #expect(again["admins"] == ["affected": 1, "lastOwner": false, "you": false])
            #expect(try await client.switchProvider("scripted", again, key).status == 200)
        }
    }

    @Test func `stranded people are told once, and sessions of the provider end if asked`() async throws {
        try await with { server, client, key in
            let ada = try await client.register(at: server)
            _ = try await client.link(.somebody("ada"), bearer: ada.accessToken)
            let linked = try await client.present(.somebody("ada"), to: "scripted")
            let bearer = try #require(linked["accessToken"].string)
            // Only a phone number, which nothing sends codes to here, so that the person is stranded and can be told.
            let bob = try await client.newcomer("bob")
            try await server.execute(
                "INSERT INTO addresses (application_id, kind, address, uid) SELECT application_id, 'phone', '+33612345678', uid FROM accounts WHERE uid = $1",
                [.uuid(UUID(uuidString: bob.uid))])
            let plan = try await client.plan("scripted", "off", key)
            #expect(plan["stranded"] == 1)
            let switched = try await client.switchProvider(
                "scripted", plan, key, ["notify": true, "sessions": "end"])
            #expect(switched.status == 200, "\(switched.text)")
            try await eventually("the sessions end and bob is told") {
                try await server.count("SELECT count(*) FROM switched_accounts") == 0
            }
            for token in [bearer, bob.accessToken] {
                try await eventually("the session has ended") {
                    try await client.get("/auth/me", bearer: token).status == 401
                }
            }
            #expect(try await client.get("/auth/me", bearer: ada.accessToken).status == 200)
            try await eventually("bob has a message") {
                server.inbox.messages().contains { $0.to == "+33612345678" }
            }
            let told = server.inbox.messages().filter { $0.text.contains("switched off") }
            #expect(told.map(\.to) == ["+33612345678"])
            let ends = try await server.audited().filter { $0.event == "session.ended" }
            #expect(ends.allSatisfy { $0.details["reason"] == "providerSwitched" } && ends.count >= 2)
        }
    }

    @Test(arguments: [nil, "ended", "adopted"])
    func `what is done to a listed account is decided when it is taken from the list`(end: String?) async throws {
        try await with { server, _, _ in
            let (application, uid, id) = try await storeSwitch(at: server)
            try await server.execute(
                "INSERT INTO switched_accounts VALUES (999, $1, $2, true, false)", [.uuid(id), .uuid(uid)])
            let store = server.backend.store
            let listed = try #require(try await store.switchedAccounts(limit: 1, application: application).first)
            try await server.execute("UPDATE switched_accounts SET ends_sessions = true WHERE application_id = 999")
            if let end {
                try await server.execute(
                    "UPDATE provider_switches SET ended_at = now(), end_reason = $1 WHERE application_id = 999",
                    [.text(end)])
            }
            let taken = try await store.remove(listed, application: application)
            #expect(taken?.endsSessions == (end == "ended" ? nil : true))
            #expect(try await server.count("SELECT count(*) FROM switched_accounts") == 0)
        }
    }

    @Test func `who is left of a switch is the next one's`() async throws {
        try await with { server, _, _ in
            let (application, uid, id) = try await storeSwitch(at: server)
            let store = server.backend.store
            try await server.execute(
                "INSERT INTO switched_accounts VALUES (999, $1, $2, true, false)", [.uuid(id), .uuid(uid)])
            let last = try #require(try await store.switches(of: application).first)
            let next = ProviderSwitch(
                id: UUID(), provider: "scripted", mode: .off, fileMode: .open, since: Date(), until: Date())
            let inheritsSessions = try await store.handOver(from: last, to: next, application: application)
            #expect(!inheritsSessions)
            let moved = try await server.count(
                "SELECT count(*) FROM switched_accounts WHERE switch_id = $1", [.uuid(next.id)])
            #expect(moved == 1)
        }
    }

    /// `mode` is that of another switch, which ends no sessions itself and has taken the place of the first one.
    @Test(arguments: [nil, "off", "linkOnly", "existing"])
    func `sessions that a server opened before it followed the switch end as well`(mode: String?) async throws {
        try await with { server, client, key in
            let ada = try await client.register(at: server)
            _ = try await client.link(.somebody("ada"), bearer: ada.accessToken)
            let plan = try await client.plan("scripted", "off", key)
            #expect(try await client.switchProvider("scripted", plan, key, ["sessions": "end"]).status == 200)
            try await eventually("the sessions that were there have ended") {
                try await server.count("SELECT count(*) FROM switched_accounts") == 0
            }
            #expect(try await client.get("/auth/me", bearer: ada.accessToken).status == 200)
            if let mode {
                let plan = try await client.plan("scripted", mode, key)
                #expect(try await client.switchProvider("scripted", plan, key).status == 200)
                let listing: StaticString =
                    "SELECT count(*) FROM provider_switches WHERE ended_at IS NULL AND sessions_listed_at IS NOT NULL"
                #expect(try await server.count(listing) == (mode == "existing" ? 0 : 1))
                guard mode != "existing" else { return }
            }
            // As if `scripted` had opened the session.
            try await server.execute(
                """
                UPDATE sessions
                   SET identity_id = (SELECT id FROM identities WHERE application_id = 1 AND provider = 'scripted')
                 WHERE application_id = 1 AND ended_at IS NULL
                """)
            try await server.age("provider_switches", "sessions_listed_at", by: "60 seconds")
            try await eventually("the session has ended") {
                try await client.get("/auth/me", bearer: ada.accessToken).status == 401
            }
            #expect(
                try await server.count("SELECT count(*) FROM provider_switches WHERE sessions_listed_at IS NULL") == 1)
        }
    }

    @Test func `a switch ends by its date`() async throws {
        try await with { server, client, key in
            _ = try await client.newcomer("ada")
            let plan = try await client.plan("scripted", "off", key)
            let soon = Date().addingTimeInterval(6).formatted(.iso8601)
            #expect(try await client.switchProvider("scripted", plan, key, ["until": .string(soon)]).status == 200)
            expectError(try await client.present(.somebody("ada"), to: "scripted"), 403, "PROVIDER_DISABLED")
            try await eventually("sign-ins work again") {
                try await client.present(.somebody("ada"), to: "scripted").status == 200
            }
            let ended = try await server.audited().filter { $0.event == "provider.switch-ended" }
            #expect(ended.map { $0.details["because"] } == ["date"])
            #expect(try await provider("scripted", client, key)["switch"] == .null)
        }
    }
}
