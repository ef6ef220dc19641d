import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// No switch takes the last owner's way in, however switches come together.
struct ProviderSwitchOwnerTests {
    private static let admin = "{ application: demo }"
    private static let providers = "scripted: {}\nother: { kind: scripted }"

    /// Runs the body with an owner who signs in with `scripted` and `other` only.
    private func withOwner(
        _ body: @escaping @Sendable (TestServer, APIClient, String) async throws -> Void
    ) async throws {
        try await TestServer.with(providers: Self.providers, admin: Self.admin) { server in
            let client = APIClient(server)
            let ada = try await client.newcomer("ada")
            let linked = try await client.link(.somebody("ada"), bearer: ada.accessToken, provider: "other")
            try #require(linked.status / 100 == 2, "\(linked.text)")
            try await own(ada.uid, at: server)
            try await body(server, client, try await server.serviceKey())
        }
    }

    private func own(_ uid: String, at server: TestServer) async throws {
        let grants = AdminGrants(store: server.backend.store, home: try await server.application())
        try await grants.grant(.owner, to: #require(UUID(uuidString: uid)), on: nil, by: TestServer.operations)
    }

    @Test func `of two providers that are switched off at once, one remains for the last owner`() async throws {
        try await withOwner { first, here, key in
            try await TestServer.with(
                database: first.databaseURL, providers: Self.providers, admin: Self.admin
            ) { second in
                let there = APIClient(second)
                for _ in 0..<5 {
                    let (one, two) = (
                        try await here.plan("scripted", "off", key), try await there.plan("other", "off", key)
                    )
                    #expect(one["admins"]["lastOwner"] == false && two["admins"]["lastOwner"] == false)
                    async let mine = here.switchProvider("scripted", one, key)
                    async let theirs = there.switchProvider("other", two, key)
                    let answers = try await [mine, theirs]
                    #expect(answers.count { $0.status == 200 } == 1, "\(answers.map(\.text))")
                    #expect(
                        answers.filter { $0.status != 200 }
                            .allSatisfy { ["PLAN_STALE", "WOULD_LOCK_OUT_ADMINS"].contains($0.code) })
                    for provider in ["scripted", "other"] {
                        #expect(try await here.endSwitch(provider, key).status == 200)
                    }
                    try await eventually("the other server follows") {
                        let items = try await there.get("/admin/providers", bearer: key)["items"].array ?? []
                        return !items.isEmpty && items.allSatisfy { $0["mode"] != "off" }
                    }
                }
            }
        }
    }

    @Test func `a switch that this server does not follow yet counts all the same`() async throws {
        try await withOwner { server, client, key in
            let plan = try await client.plan("other", "off", key)
            // Another server has made it, and the notification is still on its way.
            try await server.execute(
                """
                INSERT INTO provider_switches (application_id, id, provider, mode, file_mode, until)
                SELECT id, gen_random_uuid(), 'scripted', 'off', 'open', now() + interval '1 day'
                  FROM applications WHERE name = 'demo'
                """)
            expectError(try await client.switchProvider("other", plan, key), 409, "WOULD_LOCK_OUT_ADMINS")
            try await server.execute("UPDATE provider_switches SET ended_at = now(), end_reason = 'ended'")
            #expect(try await client.switchProvider("other", plan, key).status == 200)
        }
    }

    @Test func `a way in that adds an identity is none for an owner, whose grant does not name it`() async throws {
        try await TestServer.with(providers: "scripted: {}", admin: Self.admin) { server in
            let client = APIClient(server)
            let key = try await server.serviceKey()
            // A reset of the password leads into the account by its address, but adds an identity to it.
            let ada = try await client.newcomer("ada", email: APIClient.newAddress())
            try await own(ada.uid, at: server)
            let plan = try await client.plan("scripted", "off", key)
            #expect(plan["stranded"] == 0 && plan["detour"] == 1)
            #expect(plan["admins"] == ["affected": 1, "lastOwner": true, "you": false])
            expectError(try await client.switchProvider("scripted", plan, key), 409, "WOULD_LOCK_OUT_ADMINS")

            let bob = try await client.register(at: server)
            try await own(bob.uid, at: server)
            let again = try await client.plan("scripted", "off", key)
            #expect(again["admins"] == ["affected": 1, "lastOwner": false, "you": false])
            #expect(try await client.switchProvider("scripted", again, key).status == 200)
        }
    }
}
