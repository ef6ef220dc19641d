import Accounts
import Administration
import Foundation
import GatehouseTesting
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Only an administrator's act changes roles and claims, and each change is recorded once.
struct AccessWriteTests {
    private static let forged: [String: JSONValue] = ["roles": ["admin"], "claims": ["plan": "pro"]]

    private func expectNone(
        _ answer: APIClient.Answer, _ client: APIClient, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let token = try answer.accessClaims(sourceLocation: sourceLocation)
        #expect(token["roles"].isNull && token["claims"].isNull, "\(token)", sourceLocation: sourceLocation)
        #expect(
            answer["auth"]["roles"].isNull && answer["auth"]["claims"].isNull, "\(answer.text)",
            sourceLocation: sourceLocation)
        let me = try await client.get("/auth/me", bearer: answer["accessToken"].string)
        #expect(me["roles"] == [] && me["claims"] == [:], "\(me.text)", sourceLocation: sourceLocation)
    }

    @Test func `a person, a provider and a custom token change nothing`() async throws {
        let authority = try TestAuthority()
        let keys = authority.keySetText.replacing("\"", with: "\\\"")
        let custom = """
            custom: { kind: custom-token, issuer: "https://legacy.example", audience: demo, jwks: "\(keys)", \
            algorithms: [ES256], expose: [role] }
            """
        try await TestServer.with(providers: custom + "\nscripted: { expose: [hd] }") { server in
            let client = APIClient(server)
            let guest = try await client.post("/auth/anonymous", .object(Self.forged))
            try await expectNone(guest, client)

            let (email, password) = (JSONValue.string(APIClient.newAddress()), JSONValue.string(APIClient.password))
            let registration = Self.forged.merging(["email": email, "password": password]) { $1 }
            #expect(try await client.post("/auth/register", .object(registration)).status == 201)
            let token = try await client.mailedToken(to: email.string ?? "", at: server)
            let registered = try await client.post(
                "/auth/verify-email", .object(Self.forged.merging(["token": .string(token)]) { $1 }))
            try await expectNone(registered, client)
            let bearer = registered["accessToken"].string
            let changed = try await client.patch(
                "/auth/me", .object(Self.forged.merging(["metadata": .object(Self.forged)]) { $1 }), bearer: bearer)
            #expect(changed.status == 200 && changed["roles"] == [] && changed["claims"] == [:], "\(changed.text)")
            #expect(changed["metadata"] == .object(Self.forged), "metadata is the app's own")
            try await expectNone(try await client.refresh(registered["refreshToken"].string ?? ""), client)

            var evidence = VerifiedIdentity.somebody("ada")
            evidence.profile = Self.forged.merging(["hd": "example.com"]) { $1 }
            let presented = try await client.present(evidence)
            #expect(presented["auth"]["hd"] == "example.com")
            try await expectNone(presented, client)

            let now = Int64(Date().timeIntervalSince1970)
            let claims: [String: JSONValue] = [
                "iss": "https://legacy.example", "aud": "demo", "sub": "42", "iat": .integer(now),
                "exp": .integer(now + 200), "jti": .string(UUID().uuidString), "role": "editor",
            ]
            let signed = try authority.token(claims.merging(Self.forged) { $1 })
            let legacy = try await client.post("/auth/custom", ["token": .string(signed)])
            #expect(legacy["auth"]["role"] == "editor", "what is exposed: \(legacy.text)")
            try await expectNone(legacy, client)
        }
    }

    @Test func `ending the sessions makes a demotion immediate`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await server.setAccess(["editor"], of: person.uid)
            #expect(try await client.status(of: person.accessToken) == 200)
            let all = try await server.audited {
                try await server.setAccess([], endSessions: true, of: person.uid)
            }
            #expect(all.map(\.event).sorted() == ["account.access-changed", "session.ended"])
            let ended = all.first { $0.event == "session.ended" }
            #expect(ended?.details == ["reason": "accessChanged", "kind": "api"])
            #expect(try await client.status(of: person.accessToken) == 401)
            expectError(try await client.refresh(person.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            let again = try await client.login(person.email)
            #expect(try again.accessClaims()["roles"].isNull)
            // Without a change, the end of the sessions is the act.
            let unchanged = try await server.audited {
                for _ in 1...2 { try await server.setAccess([], endSessions: true, of: person.uid) }
            }
            #expect(unchanged.map(\.event).sorted() == ["session.ended", "sessions.ended"])
            #expect(unchanged.last { $0.event == "sessions.ended" }?.details["actor"] != .null)
        }
    }

    @Test func `a sign-in that waits for a demotion gets none of what was taken away`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await server.setAccess(["editor"], claims: ["plan": "pro"], of: person.uid)
            let signIn = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.demote, .uuid(UUID(uuidString: person.uid)))
                let signIn = Task { try await client.login(person.email) }
                try await server.awaitBlocked(1)
                return signIn
            }
            let answer = try await signIn.value
            try #require(answer.status == 200, "\(answer.text)")
            #expect(answer["user"]["roles"] == [] && answer["user"]["claims"] == [:], "\(answer.text)")
            try await expectNone(answer, client)
        }
    }

    private static let demote = Statement(
        .write, "UPDATE accounts SET roles = '{}', claims = '{}' WHERE application_id = 1 AND uid = $1")

    @Test func `an act is one event with who acted and why, and repeating it is none`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(
                application: "roles: [editor, moderator]", webhooks: "[\(sink.entry("account.changed"))]"
            ) { server in
                let person = try await APIClient(server).register(at: server)
                let pseudonym = try await server.pseudonym(of: person.uid)
                let key = AdministrativeAct(by: .key("abcd"), because: .init(.personAsked, ticket: "T-1"))
                let all = try await server.audited {
                    for _ in 1...2 {
                        try await server.setAccess(
                            ["moderator", "editor"], claims: ["plan": "pro"], of: person.uid)
                    }
                    try await server.setAccess(["editor"], of: person.uid, by: key)
                    try await server.setAccess(claims: [:], of: person.uid, by: key)
                    try await server.setAccess(of: person.uid)
                }
                let (host, actor): (JSONValue, JSONValue) = (["cli": "gate.example"], ["key": "abcd"])
                let reason: JSONValue = ["code": "person-asked", "ticket": "T-1"]
                #expect(all.allSatisfy { $0.event == "account.access-changed" && $0.account == pseudonym })
                #expect(
                    all.map(\.details) == [
                        ["actor": host, "changed": ["roles", "claims"], "added": ["editor", "moderator"]],
                        ["actor": actor, "reason": reason, "changed": ["roles"], "removed": ["moderator"]],
                        ["actor": actor, "reason": reason, "changed": ["claims"]],
                    ], "\(all)")
                try await eventually("the changes are told") { sink.posts.count == 3 }
                #expect(sink.posts.allSatisfy { $0.kind == "account.changed" && $0.isSigned(with: WebhookSink.secret) })
                let data = sink.posts.map(\.data)
                #expect(data.allSatisfy { $0["uid"].string == person.uid && $0["application"] == "demo" })
                #expect(data.allSatisfy { $0.keys == ["uid", "application", "changed"] })
                let changed = data.map { $0["changed"].array?.compactMap(\.string).joined(separator: " ") ?? "" }
                #expect(changed.sorted() == ["claims", "roles", "roles claims"])
            }
        }
    }

    @Test func `the audit names no role that is not of the configuration, and no claim`() async throws {
        try await TestServer.with { server in
            let guest = try await APIClient(server).guest()
            let all = try await server.audited {
                try await server.setAccess(["friend-of-ada"], claims: ["name": "Ada"], of: guest.uid)
            }
            #expect(all.map(\.details) == [["actor": ["cli": "gate.example"], "changed": ["roles", "claims"]]])
        }
    }

    @Test func `what is not allowed changes and records nothing`() async throws {
        try await TestServer.with(application: "roles: [editor]\nclaims: { largest: 20 }") { server in
            let guest = try await APIClient(server).guest()
            let all = try await server.audited {
                for (roles, claims, name) in [
                    (["admin"], nil, "roles"), (nil, ["plan": "a plan that is long"], "claims"),
                    (["editor"], ["a": [[[[]]]]], "claims"),
                ] as [([String]?, [String: JSONValue]?, String)] {
                    let error = await #expect(throws: AccountsError.self) {
                        try await server.setAccess(roles, claims: claims, endSessions: true, of: guest.uid)
                    }
                    guard case .invalidParameter(name, _)? = error else {
                        Issue.record("\(String(describing: error))")
                        continue
                    }
                }
                let unknown = UUID()
                await #expect(throws: AccountsError.accountNotFound(unknown)) {
                    try await server.setAccess(["editor"], of: unknown.uuidString)
                }
            }
            #expect(all == [])
            #expect(try await APIClient(server).status(of: guest.accessToken) == 200)
        }
    }

    @Test func `of twenty callers at once, each act is whole and recorded once`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let same = try await server.audited {
                _ = try await atOnce(20) {
                    try await server.setAccess(["editor"], claims: ["plan": "pro"], of: person.uid)
                }
            }
            #expect(same.map(\.event) == ["account.access-changed"])
            let different = try await server.audited {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 1...20 {
                        group.addTask {
                            let access = try await server.setAccess(
                                ["r\(number)"], claims: ["n": .integer(Int64(number))],
                                endSessions: number.isMultiple(of: 5), of: person.uid)
                            #expect(access.roles == ["r\(number)"])
                        }
                        group.addTask { _ = try await client.login(person.email) }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(different.count { $0.event == "account.access-changed" } == 20)
            let last = try await client.login(person.email)
            let token = try last.accessClaims()
            let number = try #require(token["claims"]["n"].integer)
            #expect(token["roles"] == [.string("r\(number)")], "\(token)")
        }
    }
}
