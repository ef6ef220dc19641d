import Accounts
import Foundation
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Guests who become permanent accounts, or whose identity already has an account.
struct GuestTests {
    @Test func `a guest becomes permanent, and stays who it is`() async throws {
        try await TestServer.linking { server, client in
            let guest = try await client.guest()
            _ = try await client.patch("/auth/me", ["metadata": ["score": 7]], bearer: guest.accessToken)
            let upgraded = try await client.link(
                .somebody("ada", email: "ada@example.com"), bearer: guest.accessToken)
            #expect(upgraded.status == 200 && upgraded["isNewAccount"] == false, "\(upgraded.text)")
            #expect(upgraded["user"]["id"].string == guest.uid && upgraded["user"]["isAnonymous"] == false)
            #expect(upgraded["user"]["authProviders"] == ["scripted"], "the guest's identity is dropped")
            #expect(upgraded["user"]["email"] == "ada@example.com" && upgraded["user"]["metadata"]["score"] == 7)
            let claims = try DecodedToken(upgraded["accessToken"].string ?? "").claims
            let before = try DecodedToken(guest.accessToken).claims
            #expect(claims["sid"] == before["sid"], "the session is kept")
            #expect(claims["provider"] == "scripted" && claims["amr"] == ["fed"])
            expectError(try await client.get("/auth/me", bearer: guest.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            let refreshed = try await client.refresh(upgraded["refreshToken"].string ?? "")
            for answer in [upgraded, refreshed] {
                #expect(try await client.get("/auth/me", bearer: answer["accessToken"].string ?? "").status == 200)
            }
            #expect(try await server.liveSessions(of: guest.uid) == 1)
        }
    }

    @Test func `a guest can repeat a request whose response was lost`() async throws {
        try await TestServer.linking { server, client in
            let guest = try await client.guest()
            #expect(try await client.link(.somebody("ada"), bearer: guest.accessToken).status == 200)
            expectError(
                try await client.link(.somebody("eve"), bearer: guest.accessToken), 401, "INVALID_TOKEN",
                "another identity")
            let again = try await client.link(.somebody("ada"), bearer: guest.accessToken)
            #expect(again.status == 200 && again["user"]["id"].string == guest.uid, "\(again.text)")
            #expect(try await client.get("/auth/me", bearer: again["accessToken"].string ?? "").status == 200)
            #expect(try await client.refresh(again["refreshToken"].string ?? "").status == 200)
            try await server.age("sessions", "renewed_at", by: "61 seconds")
            expectError(
                try await client.link(.somebody("ada"), bearer: guest.accessToken), 401, "INVALID_TOKEN",
                "after a minute")
        }
    }

    /// A guest can only get a second session by re-authenticating, which guests cannot do, so the test inserts the row.
    @Test func `a guest's other sessions end with the upgrade`() async throws {
        try await TestServer.linking { server, client in
            let guest = try await client.guest()
            try await server.execute(
                """
                INSERT INTO sessions (application_id, id, uid, identity_id, methods, expires_at)
                SELECT application_id, gen_random_uuid(), uid, identity_id, methods, expires_at FROM sessions
                """)
            #expect(try await server.liveSessions(of: guest.uid) == 2)
            #expect(try await client.link(.somebody("ada"), bearer: guest.accessToken).status == 200)
            #expect(try await server.liveSessions(of: guest.uid) == 1)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE end_reason = 'guestUpgraded'") == 1)
        }
    }

    @Test func `a recycled number leaves its identity to a browser that is signed in by it`() async throws {
        try await TestServer.with { server in
            for (isSignedIn, guests) in [(true, 1), (false, 0)] {
                let person = try await APIClient(server).register(at: server)
                let (owner, id) = try await addNumber("+4930123456\(guests)", to: person, at: server)
                if isSignedIn {
                    _ = try await RelyingParty(server).browser(of: person)
                    try await server.execute(
                        "UPDATE sessions SET identity_id = $1 WHERE kind = 'browser'", [.uuid(id)])
                }
                _ = try await server.backend.store.displace(owner, application: server.application().id)
                #expect(try await self.guests(of: owner, at: server) == guests)
            }
        }
    }

    @Test func `a recycled number leaves its identity to an app whose session has no refresh token`() async throws {
        try await TestServer.with { server in
            let store = server.backend.store
            let cases: [(idle: Duration?, guests: Int)] = [(.seconds(3600), 1), (.zero, 0), (nil, 1)]
            for (index, (idle, guests)) in cases.enumerated() {
                let person = try await APIClient(server).register(at: server)
                let (owner, id) = try await addNumber("+4930123456\(index)", to: person, at: server)
                try await server.execute(
                    "UPDATE sessions SET identity_id = $1 WHERE uid = $2", [.uuid(id), .uuid(owner.uid)])
                if let idle {
                    try await server.giveBearers(to: owner.uid, idle: idle)
                } else {
                    try await server.leaveAccessTokens(of: owner.uid)
                }
                // The number is the only identity, so that the account is deleted if it is not in use.
                try await server.execute(
                    "DELETE FROM identities WHERE uid = $1 AND id <> $2", [.uuid(owner.uid), .uuid(id)])
                let isKept = try await store.displace(owner, application: server.application().id)
                #expect(isKept == (guests == 1), "\(index)")
                #expect(try await self.guests(of: owner, at: server) == guests, "\(index)")
            }
        }
    }

    /// Adds the identity of a phone number to a person's account.
    private func addNumber(
        _ number: String, to person: Person, at server: TestServer
    ) async throws -> (owner: AddressOwner, identity: UUID) {
        let (id, uid) = (UUID(), try #require(UUID(uuidString: person.uid)))
        let number = try #require(PhoneNumber(number))
        try await server.execute(
            """
            INSERT INTO identities (application_id, id, uid, provider, provider_uid, phone, phone_verified)
            SELECT application_id, $3, uid, 'phone', $2, $2, true FROM accounts WHERE uid = $1
            """, [.uuid(uid), .text(number.value), .uuid(id)])
        return (AddressOwner(address: .phone(number), uid: uid, status: .live), id)
    }

    private func guests(of owner: AddressOwner, at server: TestServer) async throws -> Int {
        try await server.count(
            "SELECT count(*) FROM identities WHERE uid = $1 AND is_guest", [.uuid(owner.uid)])
    }

    @Test func `tokens of a refresh that races with an upgrade are refused`() async throws {
        try await TestServer.linking { _, client in
            for round in 1...15 {
                let guest = try await client.guest()
                async let upgrade = client.link(.somebody("ada-\(round)"), bearer: guest.accessToken)
                async let refreshes = atOnce(8) { try await client.refresh(guest.refreshToken) }
                let (upgraded, answers) = try await (upgrade, refreshes)
                try #require(upgraded.status == 200, "\(upgraded.text)")
                for answer in answers where answer.status == 200 {
                    let (bearer, token) = (answer["accessToken"].string ?? "", answer["refreshToken"].string ?? "")
                    expectError(try await client.get("/auth/me", bearer: bearer), 401, "INVALID_TOKEN")
                    expectError(try await client.refresh(token), 401, "INVALID_REFRESH_TOKEN")
                }
                #expect(try await client.get("/auth/me", bearer: upgraded["accessToken"].string ?? "").status == 200)
                #expect(try await client.refresh(upgraded["refreshToken"].string ?? "").status == 200)
            }
        }
    }

    @Test func `every replica refuses a guest's token from before the upgrade`() async throws {
        try await TestServer.linking { first, client in
            let (guest, other) = (try await client.guest(), try await client.guest())
            let upgraded = try await TestServer.with(database: first.databaseURL) { running in
                let replica = APIClient(running)
                _ = try await eventually("the replica has loaded") { try await running.hasLoadedRevocations() }
                #expect(try await replica.status(of: guest.accessToken) == 200)
                let upgraded = try await client.link(.somebody("ada"), bearer: guest.accessToken)
                _ = try await eventually("the replica has heard") {
                    try await replica.status(of: guest.accessToken) == 401
                }
                #expect(try await replica.status(of: upgraded["accessToken"].string ?? "") == 200)
                return upgraded
            }
            try await TestServer.with(database: first.databaseURL) { later in
                let replica = APIClient(later)
                _ = try await eventually("the replica has loaded") { try await later.hasLoadedRevocations() }
                #expect(try await replica.status(of: guest.accessToken) == 401)
                #expect(try await replica.status(of: upgraded["accessToken"].string ?? "") == 200)
                #expect(try await replica.status(of: other.accessToken) == 200)
            }
        }
    }

    @Test func `by default a guest whose identity has an account is refused`() async throws {
        try await TestServer.linking { server, client in
            let (ada, guest) = (try await client.newcomer("ada"), try await client.guest())
            for choice in [nil, "keep"] {
                let refused = try await client.link(.somebody("ada"), bearer: guest.accessToken, onConflict: choice)
                expectError(refused, 409, "IDENTITY_IN_USE")
                #expect(refused.json["error"]["details"]["mergeToken"].string != nil)
            }
            #expect(try await client.get("/auth/me", bearer: guest.accessToken)["isAnonymous"] == true)
            #expect(try await client.get("/auth/me", bearer: ada.accessToken).status == 200)
        }
    }

    @Test(arguments: ["switch", "merge"])
    func `a guest switches to its account, also on a retry`(choice: String) async throws {
        try await TestServer.linking { server, client in
            let (ada, guest) = (try await client.newcomer("ada"), try await client.guest())
            _ = try await client.patch("/auth/me", ["metadata": ["score": 7]], bearer: guest.accessToken)
            for attempt in 1...3 {
                let answer = try await client.link(.somebody("ada"), bearer: guest.accessToken, onConflict: choice)
                #expect(answer.status == 200, "\(attempt): \(answer.text)")
                #expect(answer["user"]["id"].string == ada.uid && answer["isNewAccount"] == false)
                let score: JSONValue = answer["user"]["metadata"]["score"]
                #expect(score == (choice == "merge" ? 7 : .null), "\(score)")
            }
            expectError(try await client.get("/auth/me", bearer: guest.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            expectError(
                try await client.link(.somebody("eve"), bearer: guest.accessToken, onConflict: choice), 401,
                "INVALID_TOKEN", "another identity")
            #expect(try await client.get("/auth/me", bearer: ada.accessToken).status == 200, "no session is lost")
            let alias = try await server.text(
                "SELECT absorbed_by::text FROM accounts WHERE uid = $1", [.uuid(UUID(uuidString: guest.uid))])
            #expect(alias == (choice == "merge" ? ada.uid : nil))
            try await server.age("sessions", "ended_at", by: "61 seconds")
            expectError(
                try await client.link(.somebody("ada"), bearer: guest.accessToken, onConflict: choice), 401,
                "INVALID_TOKEN", "after a minute")
        }
    }

    @Test func `a guest that sends twenty requests at once switches once`() async throws {
        try await TestServer.linking { server, client in
            let (ada, guest) = (try await client.newcomer("ada"), try await client.guest())
            let answers = try await atOnce(20) {
                try await client.link(.somebody("ada"), bearer: guest.accessToken, onConflict: "merge")
            }
            #expect(
                answers.allSatisfy { $0.status == 200 && $0["user"]["id"].string == ada.uid }, "\(answers.map(\.text))")
            #expect(try await server.count("SELECT count(*) FROM merges") == 1)
        }
    }

    @Test func `a guest upgraded by two identities at once has both`() async throws {
        try await TestServer.linking { server, client in
            let guest = try await client.guest()
            async let one = client.link(.somebody("one"), bearer: guest.accessToken)
            async let two = client.link(.somebody("two"), bearer: guest.accessToken)
            let answers = try await [one, two]
            #expect(
                answers.allSatisfy { $0.status == 200 && $0["user"]["id"].string == guest.uid },
                "\(answers.map(\.text))")
            let bearers = answers.compactMap { $0["accessToken"].string }
            #expect(try await client.identities(bearer: bearers[0]).count == 2)
            #expect(try await client.identities(bearer: bearers[1]).count == 2)
        }
    }

    @Test func `a guest's code for an address with an account opens that account`() async throws {
        try await TestServer.linking { server, client in
            let (ada, guest) = (try await client.register(at: server), try await client.guest())
            let code = try await client.challenge("email", ada.email, at: server, bearer: guest.accessToken)
            let answer = try await client.post(
                "/auth/identities/email", .object(code.merging(["onConflict": "switch"]) { $1 }),
                bearer: guest.accessToken)
            #expect(answer.status == 200 && answer["user"]["id"].string == ada.uid, "\(answer.text)")
        }
    }
}
