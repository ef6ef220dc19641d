import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Sessions that end some hours after the sign-in, because the client sends `remember: false`.
struct ShortSessionTests {
    private static let hour = 3600
    private static let day = 24 * hour

    /// Expects that the answer opened a session that ends that many seconds from now, unless it is refreshed.
    private func expectEnd(
        _ answer: APIClient.Answer, after seconds: Int, _ comment: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let end = Int(answer["auth"]["sessionExpires"].integer ?? 0)
        let left = end - Int(Date().timeIntervalSince1970)
        #expect((seconds - 60...seconds).contains(left), "\(comment) \(answer.text)", sourceLocation: sourceLocation)
    }

    private typealias Opening = @Sendable (TestServer, APIClient, [String: JSONValue]) async throws -> APIClient.Answer

    /// Each call that opens a session, with these members added to its body.
    private static let openings: [String: Opening] = [
        "anonymous": { _, client, more in try await client.post("/auth/anonymous", .object(more)) },
        "login": { server, client, more in
            let person = try await client.register(at: server)
            let body: [String: JSONValue] = ["email": .string(person.email), "password": .string(person.password)]
            return try await client.post("/auth/login", .object(body.merging(more) { $1 }))
        },
        "verify-email": { server, client, more in
            let token = try await client.pend(at: server, APIClient.newAddress())
            return try await client.post(
                "/auth/verify-email", .object(["token": .string(token)].merging(more) { $1 }))
        },
        "code": { server, client, more in
            let body = try await client.challenge("email", APIClient.newAddress(), at: server)
            return try await client.post("/auth/email/otp/verify", .object(body.merging(more) { $1 }))
        },
        "direct": { _, client, more in
            let body: [String: JSONValue] = ["proof": .string(try VerifiedIdentity.somebody().proof)]
            return try await client.post("/auth/scripted", .object(body.merging(more) { $1 }))
        },
        "native token": { _, client, more in
            let body: [String: JSONValue] = ["idToken": .string(try VerifiedIdentity.somebody().proof)]
            return try await client.post("/auth/oauth/scripted/token", .object(body.merging(more) { $1 }))
        },
        "reauthenticate": { _, client, more in
            let person = try await client.newcomer("eve")
            let body: [String: JSONValue] = [
                "provider": "scripted", "proof": .string(try VerifiedIdentity.somebody("eve").proof),
            ]
            return try await client.post(
                "/auth/reauthenticate", .object(body.merging(more) { $1 }), bearer: person.accessToken)
        },
        "link": { _, client, more in
            let person = try await client.newcomer()
            let body: [String: JSONValue] = ["proof": .string(try VerifiedIdentity.somebody().proof)]
            return try await client.post(
                "/auth/identities/scripted", .object(body.merging(more) { $1 }), bearer: person.accessToken)
        },
        "merge": { _, client, more in
            let (person, other) = (try await client.newcomer(), UUID().uuidString)
            _ = try await client.newcomer(other)
            let ticket = try await client.ticket(.somebody(other), bearer: person.accessToken)
            return try await client.post(
                "/auth/merge", .object(["mergeToken": .string(ticket)].merging(more) { $1 }),
                bearer: person.accessToken)
        },
        "restore": { server, client, more in
            let person = try await client.register(at: server)
            _ = try await client.deleteAccount(person)
            let refused = try await client.login(person.email)
            let token = try #require(refused.json["error"]["details"]["restoreToken"].string, "\(refused.text)")
            return try await client.post(
                "/auth/account/restore", .object(["restoreToken": .string(token)].merging(more) { $1 }))
        },
    ]

    @Test(arguments: openings.keys.sorted()) func `every call that opens a session can open a short one`(
        _ call: String
    ) async throws {
        let open = try #require(Self.openings[call])
        try await TestServer.linking { server, client in
            expectEnd(try await open(server, client, [:]), after: 30 * Self.day)
            expectEnd(try await open(server, client, ["remember": true]), after: 30 * Self.day)
            let answer = try await open(server, client, ["remember": false])
            expectEnd(answer, after: 12 * Self.hour)
            let bearer = try #require(answer["accessToken"].string)
            let listed = try await client.get("/auth/sessions", bearer: bearer)
            let current = listed["sessions"].array?.first { $0["current"] == true }
            let end = try Date(
                current?["expiresAt"].string ?? "", strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            #expect(abs(end.timeIntervalSince1970 - Double(answer["auth"]["sessionExpires"].integer ?? 0)) < 2)
            expectError(try await open(server, client, ["remember": "no"]), 400, "INVALID_PARAMETER", call)
        }
    }

    @Test func `it ends some hours after the sign-in, however often it is refreshed`() async throws {
        try await TestServer.with(tokens: "algorithm: ES256, shortSessions: 2h") { server in
            let client = APIClient(server)
            let opened = try await client.post("/auth/anonymous", ["remember": false])
            expectEnd(opened, after: 2 * Self.hour)
            #expect(opened["expiresIn"] == 3600)
            var token = opened["refreshToken"].string ?? ""
            func pass(minutes: Int) async throws {
                try await server.age("sessions", "expires_at", by: "\(minutes) minutes")
                try await server.age("refresh_tokens", "expires_at", "created_at", by: "\(minutes) minutes")
            }
            for most in [Self.hour, Self.hour / 2] {
                try await pass(minutes: 45)
                let refreshed = try await client.refresh(token)
                token = refreshed["refreshToken"].string ?? ""
                let expiresIn = Int(refreshed["expiresIn"].integer ?? 0)
                #expect((most - 60...most).contains(expiresIn), "\(refreshed.text)")
            }
            let longer = try await server.count(
                """
                SELECT count(*) FROM refresh_tokens t JOIN sessions s ON s.application_id = t.application_id
                   AND s.id = t.session_id WHERE t.expires_at > s.expires_at
                """)
            #expect(longer == 0)
            try await pass(minutes: 31)
            expectError(try await client.refresh(token), 401, "INVALID_REFRESH_TOKEN")
        }
    }

    @Test(
        arguments: [
            ("refreshLifetime: 600", 600), ("sessionLifetime: 300", 300),
            ("sessionLifetime: 300, refreshLifetime: 200", 200),
        ] as [(String, Int)])
    func `sessionExpires is the sooner end, and no session is longer because it is short`(
        _ setting: String, _ seconds: Int
    ) async throws {
        try await TestServer.with(tokens: "algorithm: ES256, \(setting)") { server in
            for body: JSONValue in [[:], ["remember": false]] {
                expectEnd(try await APIClient(server).post("/auth/anonymous", body), after: seconds)
            }
        }
    }

    @Test func `a redirect flow opens a short session if it began or ends so`() async throws {
        try await TestServer.with(application: RedirectFlowTests.application, providers: "scripted: {}") { server in
            let app = RedirectClient(api: APIClient(server))
            func finish(_ flow: RedirectClient.Flow, remember: Bool? = nil) async throws -> APIClient.Answer {
                let code = try await app.arrive(flow, with: .somebody()).query("code")
                return try await app.redeem(code, remember: remember)
            }
            expectEnd(try await finish(app.begin()), after: 30 * Self.day)
            expectEnd(try await finish(app.begin(["remember": "true"])), after: 30 * Self.day)
            expectEnd(try await finish(app.begin(["remember": "false"])), after: 12 * Self.hour)
            expectEnd(try await finish(app.begin(["remember": "false"]), remember: true), after: 12 * Self.hour)
            expectEnd(try await finish(app.begin(), remember: false), after: 12 * Self.hour)
            expectEnd(try await finish(app.flow(app.post(["remember": false]))), after: 12 * Self.hour)
            expectEnd(try await finish(app.flow(app.post([:]))), after: 30 * Self.day)
            expectError(try await app.authorize(["remember": "no"]), 400, "INVALID_PARAMETER")
            expectError(try await app.post(["remember": "false"]), 400, "INVALID_PARAMETER")

            // A flow that authenticates again keeps what its beginning asked for.
            let person = try Person(try await app.signIn(.somebody("ada")), email: "", password: "")
            let flow = try await app.flow(app.post(["remember": false], bearer: person.accessToken))
            let code = try await app.arrive(flow, with: .somebody("ada"), ["time": "begin"]).query("code") ?? ""
            let again = try await app.api.post(
                "/auth/reauthenticate",
                [
                    "provider": "scripted", "code": .string(code), "redirect_uri": .string(app.redirectURI),
                    "codeVerifier": .string(app.verifier),
                ], bearer: person.accessToken)
            expectEnd(again, after: 12 * Self.hour)
        }
    }

    @Test func `a guest's upgrade can shorten the session, and extends none`() async throws {
        try await TestServer.linking { server, client in
            for (guest, upgrade, seconds): (JSONValue, JSONValue, Int) in [
                (true, true, 30 * Self.day), (true, false, 12 * Self.hour), (false, true, 12 * Self.hour),
            ] {
                let opened = try await client.post("/auth/anonymous", ["remember": guest])
                let proof = JSONValue.string(try VerifiedIdentity.somebody().proof)
                let upgraded = try await client.post(
                    "/auth/identities/scripted", ["proof": proof, "remember": upgrade],
                    bearer: opened["accessToken"].string)
                #expect(upgraded["user"]["id"] == opened["user"]["id"], "\(upgraded.text)")
                expectEnd(upgraded, after: seconds, "\(guest) \(upgrade)")
            }
        }
    }

    @Test func `a session bearer lasts as its dialect's settings say`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let body: JSONValue = [
                "email": .string(person.email), "password": .string(person.password), "remember": false,
            ]
            #expect(try await app.call(.POST, "/auth/login", body).status == 201)
            let lasting = try await server.count(
                """
                SELECT count(*) FROM sessions WHERE renewal = 'bearer' AND expires_at > now() + interval '13 hours'
                """)
            #expect(lasting == 1)
        }
    }
}
