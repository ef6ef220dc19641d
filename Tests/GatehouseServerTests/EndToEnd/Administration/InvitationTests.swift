import Accounts
import Administration
import Foundation
import GatehouseTesting
import ProviderKit
import Testing

@testable import GatehouseServer

/// People are invited, and open their accounts with the link.
struct InvitationTests {
    private static let roles = "roles: [editor, moderator]"

    @Test func `an invited person signs in with a verified address and the roles of the invitation`() async throws {
        try await TestServer.inviting(application: Self.roles) { server, client, key in
            let email = APIClient.newAddress()
            let sent = try await server.audited {
                let invited = try await client.invite(
                    [
                        "email": .string(email.uppercased()), "displayName": "Ada", "roles": ["editor"],
                        "claims": ["plan": "pro"], "expiresIn": 3600,
                    ], by: key)
                #expect(invited.status == 201 && invited.json.keys == ["expiresAt"], "\(invited.text)")
                #expect(!invited.text.contains("token"))
            }
            let id = String(key.dropFirst(4).prefix(16))
            #expect(
                sent == [
                    .init(
                        event: "invitation.sent",
                        details: [
                            "actor": ["key": .string(id)], "reason": ["code": "person-asked", "ticket": "T-1"],
                            "kind": "email", "roles": ["editor"],
                        ], account: nil)
                ])
            let token = try await server.linkToken(to: email, at: "invitation")
            let before = try await server.count("SELECT count(*) FROM accounts")

            let accepted = try await server.audited {
                let session = try await client.accept(token, ["password": .string(APIClient.password)])
                #expect(session.status == 200, "\(session.text)")
                let user = session["user"]
                #expect(user["email"].string == email && user["emailVerified"] == true && user["displayName"] == "Ada")
                #expect(user["roles"] == ["editor"] && user["claims"] == ["plan": "pro"])
                #expect(user["authProviders"] == ["email"] && session["isNewAccount"] == true)
                let claims = try session.accessClaims()
                #expect(claims["roles"] == ["editor"] && claims["claims"] == ["plan": "pro"])
                #expect(claims["email"].string == email && claims["email_verified"] == true)
                let me = try await client.get("/auth/me", bearer: session["accessToken"].string)
                #expect(me["roles"] == ["editor"] && me["email"].string == email)
            }
            #expect(Set(accepted.map(\.event)).isSuperset(of: ["account.created", "invitation.used"]))
            #expect(accepted.first { $0.event == "invitation.used" }?.details == ["roles": ["editor"]])
            #expect(try await server.count("SELECT count(*) FROM accounts") == before + 1)
            let login = try await client.login(email)
            #expect(login.status == 200 && login["user"]["roles"] == ["editor"], "\(login.text)")
            expectError(try await client.accept(token), 401, "INVALID_TOKEN", "used twice")
        }
    }

    @Test func `a link alone opens the account, and a code signs in to it afterwards`() async throws {
        try await TestServer.inviting { server, client, key in
            let email = APIClient.newAddress()
            let token = try await client.invitation(to: email, by: key, at: server)
            let session = try await client.accept(token, ["displayName": "Grace"])
            #expect(session.status == 200 && session["user"]["displayName"] == "Grace", "\(session.text)")
            #expect(session["user"]["roles"] == [] && session["user"]["claims"] == [:])
            let code = try await client.challenge("email", email, at: server)
            let again = try await client.post("/auth/email/otp/verify", .object(code))
            #expect(again["user"]["id"] == session["user"]["id"], "\(again.text)")
        }
    }

    @Test func `a texted link opens an account with the number, which has no password`() async throws {
        try await TestServer.inviting { server, client, key in
            let number = "+33612345678"
            let token = try await client.invitation(to: number, ["roles": ["editor"]], by: key, at: server)
            expectError(
                try await client.accept(token, ["password": .string(APIClient.password)]), 400, "INVALID_PARAMETER")
            let session = try await client.accept(token)
            #expect(session.status == 200, "\(session.text)")
            #expect(session["user"]["phone"].string == number && session["user"]["phoneVerified"] == true)
            #expect(session["user"]["roles"] == ["editor"])
        }
    }

    @Test func `an identity of a provider opens the account, which owns the invited address too`() async throws {
        try await TestServer.inviting { server, client, key in
            let email = APIClient.newAddress()
            let token = try await client.invitation(to: email, ["roles": ["editor"]], by: key, at: server)
            let taken = try await client.newcomer("taken")
            let foreign: [String: JSONValue] = [
                "provider": "scripted", "proof": .string(try VerifiedIdentity.somebody("taken").proof),
            ]
            expectError(try await client.accept(token, foreign), 409, "IDENTITY_IN_USE")
            expectError(
                try await client.accept(token, ["provider": "scripted", "proof": "refused"]), 401, "INVALID_TOKEN"
            )
            expectError(
                try await client.accept(
                    token,
                    ["provider": "email", "email": .string(email), "password": .string(APIClient.password)]),
                400, "INVALID_PARAMETER")

            let own = VerifiedIdentity.somebody("ada", email: APIClient.newAddress())
            let session = try await client.accept(token, ["provider": "scripted", "proof": .string(try own.proof)])
            #expect(session.status == 200, "the refusals have left the link good: \(session.text)")
            #expect(Set(session["user"]["authProviders"].array ?? []) == ["email", "scripted"])
            #expect(session["user"]["roles"] == ["editor"] && session["user"]["id"].string != taken.uid)
            let uid = session["user"]["id"]
            let code = try await client.challenge("email", email, at: server)
            #expect(try await client.post("/auth/email/otp/verify", .object(code))["user"]["id"] == uid)
            #expect(try await client.present(own)["user"]["id"] == uid)
        }
    }

    @Test func `where an account has one identity, the invited one opens it, and no other`() async throws {
        try await TestServer.inviting(application: "linking: { maximumIdentities: 1 }") { server, client, key in
            let email = APIClient.newAddress()
            let token = try await client.invitation(to: email, by: key, at: server)
            let proof = JSONValue.string(try VerifiedIdentity.somebody("ada").proof)
            expectError(
                try await client.accept(token, ["provider": "scripted", "proof": proof]), 409, "LIMIT_REACHED")
            let session = try await client.accept(token, [:])
            #expect(session["user"]["email"].string == email, "the refusal has left the link good: \(session.text)")
        }
    }

    @Test func `a custom token is beside the link's in a field of its own`() async throws {
        let authority = try TestAuthority()
        let keys = authority.keySetText.replacing("\"", with: "\\\"")
        func token(_ subject: String) throws -> JSONValue {
            let now = Int64(Date().timeIntervalSince1970)
            let claims: [String: JSONValue] = [
                "iss": "https://legacy.example", "aud": "demo", "sub": .string(subject), "iat": .integer(now),
                "exp": .integer(now + 200), "jti": .string(UUID().uuidString),
            ]
            return .string(try authority.token(claims))
        }
        let (first, second) = (try token("42"), try token("43"))
        try await TestServer.with(
            providers: """
                custom: { kind: custom-token, issuer: "https://legacy.example", audience: demo, jwks: "\(keys)", \
                algorithms: [ES256] }
                """, admin: "{ application: demo }"
        ) { server in
            let (client, key) = (APIClient(server), try await server.serviceKey())
            let link = try await client.invitation(to: APIClient.newAddress(), by: key, at: server)
            let none = try await client.accept(link, ["provider": "custom"])
            expectError(none, 400, "MISSING_PARAMETER")
            #expect(none.message == "providerToken is missing")
            expectError(
                try await client.accept(link, ["provider": "custom", "providerToken": "x"]), 401, "INVALID_TOKEN")
            let opened = try await client.accept(link, ["provider": "custom", "providerToken": first])
            #expect(opened.status == 200, "\(opened.text)")
            #expect(Set(opened["user"]["authProviders"].array ?? []) == ["custom", "email"])

            let person = try await client.register(at: server)
            let recovery = try await client.recovery(of: person, by: key, at: server)
            let recovered = try await client.recover(recovery, ["provider": "custom", "providerToken": second])
            #expect(recovered.status == 200 && recovered["user"]["id"].string == person.uid, "\(recovered.text)")
        }
    }

    @Test func `twenty callers open one account`() async throws {
        try await TestServer.inviting { server, client, key in
            let email = APIClient.newAddress()
            let token = try await client.invitation(to: email, ["roles": ["editor"]], by: key, at: server)
            let before = try await server.count("SELECT count(*) FROM accounts")
            let answers = try await atOnce(20) {
                if Bool.random() { return try await client.accept(token) }
                let proof = try VerifiedIdentity.somebody().proof
                return try await client.accept(token, ["provider": "scripted", "proof": .string(proof)])
            }
            #expect(answers.count { $0.status == 200 } == 1, "\(answers.map(\.status))")
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 19)
            #expect(try await server.count("SELECT count(*) FROM accounts") == before + 1)
        }
    }

    @Test func `an expired link, a replaced one and one of a taken address open nothing`() async throws {
        try await TestServer.inviting { server, client, key in
            let email = APIClient.newAddress()
            let first = try await client.invitation(to: email, ["roles": ["editor"]], by: key, at: server)
            let second = try await client.invitation(to: email, by: key, at: server)
            expectError(try await client.accept(first), 401, "INVALID_TOKEN", "replaced")
            try await server.execute("UPDATE proofs SET expires_at = now() - interval '1 second'")
            expectError(try await client.accept(second), 401, "INVALID_TOKEN", "expired")

            let third = try await client.invitation(to: email, by: key, at: server)
            let code = try await client.challenge("email", email, at: server)
            #expect(try await client.post("/auth/email/otp/verify", .object(code)).status == 200)
            let before = try await server.count("SELECT count(*) FROM accounts")
            expectError(try await client.accept(third), 401, "INVALID_TOKEN", "taken")
            expectError(
                try await client.accept(third, ["password": .string(APIClient.password)]), 401, "INVALID_TOKEN")
            let proof = try VerifiedIdentity.somebody().proof
            expectError(
                try await client.accept(third, ["provider": "scripted", "proof": .string(proof)]), 401,
                "INVALID_TOKEN")
            #expect(try await server.count("SELECT count(*) FROM accounts") == before)
            expectError(try await client.invite(["email": .string(email)], by: key), 409, "EXISTING_IDENTITY")
        }
    }

    @Test func `people can be invited where nobody can sign up`() async throws {
        try await TestServer.inviting(email: "mode: existing") { server, client, key in
            let email = APIClient.newAddress()
            let token = try await client.invitation(to: email, by: key, at: server)
            expectError(try await client.accept(token, ["password": "password"]), 400, "TOO_WEAK_PASSWORD")
            let session = try await client.accept(token, ["password": .string(APIClient.password)])
            #expect(session.status == 200, "\(session.text)")
            #expect(try await client.login(email).status == 200)
        }
    }

    @Test(
        arguments: [
            (["email": "a@b.example", "phone": "+33612345678"], 400, "INVALID_PARAMETER"),
            ([:], 400, "MISSING_PARAMETER"), (["email": "nobody"], 400, "INVALID_PARAMETER"),
            (["email": "a@b.example", "expiresIn": 3599], 400, "INVALID_PARAMETER"),
            (["email": "a@b.example", "expiresIn": 2_592_001], 400, "INVALID_PARAMETER"),
            (["email": "a@b.example", "expiresIn": .integer(.max)], 400, "INVALID_PARAMETER"),
            (["email": "a@b.example", "roles": ["root"]], 400, "INVALID_PARAMETER"),
            (["email": "a@b.example", "claims": []], 400, "INVALID_PARAMETER"),
            (["email": "a@b.example", "displayName": ""], 400, "INVALID_PARAMETER"),
        ] as [([String: JSONValue], Int, String)])
    func `a wrong invitation is refused`(body: [String: JSONValue], status: Int, code: String) async throws {
        try await TestServer.inviting(application: Self.roles) { server, client, key in
            expectError(try await client.invite(body, by: key), status, code)
            #expect(try await server.count("SELECT count(*) FROM proofs") == 0)
        }
    }

    @Test func `inviting needs its scope, and roles and claims need theirs`() async throws {
        try await TestServer.inviting { server, client, _ in
            let reader = try await server.serviceKey([.readAccounts, .accessOfAccounts])
            let writer = try await server.serviceKey([.writeAccounts])
            let email = JSONValue.string(APIClient.newAddress())
            let cases: [([String: JSONValue], String, String)] = [
                (["email": email], reader, "accounts:write"),
                (["email": email, "roles": ["a"]], writer, "accounts:access"),
                (["email": email, "claims": ["a": 1]], writer, "accounts:access"),
            ]
            for (body, key, scope) in cases {
                let refused = try await client.invite(body, by: key)
                expectError(refused, 403, "FORBIDDEN")
                #expect(refused.json["error"]["details"]["scope"].string == scope)
            }
            #expect(try await client.invite(["email": email, "roles": [], "claims": [:]], by: writer).status == 201)
            let without = try await client.post("/admin/invitations", ["email": email], bearer: writer)
            expectError(without, 400, "MISSING_PARAMETER")
        }
    }

    @Test func `parallel invitations of one address leave one valid link`() async throws {
        try await TestServer.inviting { server, client, key in
            let email = APIClient.newAddress()
            let answers = try await atOnce(20) { try await client.invite(["email": .string(email)], by: key) }
            let sent = answers.count { $0.status == 201 }
            #expect(sent > 1 && answers.allSatisfy { [201, 503].contains($0.status) }, "\(answers.map(\.text))")
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'invitation'") == 1)
            var tokens: Set<String> = []
            try await eventually("all links arrive") {
                tokens = server.linkTokens(to: email, at: "invitation")
                return tokens.count == sent
            }
            var opened = 0
            for token in tokens where try await client.accept(token).status == 200 { opened += 1 }
            #expect(opened == 1)
        }
    }

    @Test func `a taken address is counted and recorded as a search`() async throws {
        try await TestServer.inviting(rateLimits: "{ adminSearch: 2/h }") { server, client, key in
            let person = try await client.register(at: server)
            let events = try await server.audited {
                for _ in 1...2 {
                    expectError(
                        try await client.invite(["email": .string(person.email)], by: key), 409, "EXISTING_IDENTITY")
                }
                expectError(try await client.invite(["email": .string(person.email)], by: key), 429, "RATE_LIMITED")
            }
            #expect(events.map(\.event) == ["accounts.searched", "accounts.searched"])
            #expect(events.allSatisfy { $0.details["kind"] == "email" && $0.details["hits"] == 1 && $0.account == nil })
            #expect(!"\(events)".contains(person.email))
        }
    }

    @Test func `the calls count as requests for a password reset`() async throws {
        try await TestServer.inviting(rateLimits: "{ forgotPassword: 2/h }") { _, client, _ in
            expectError(try await client.accept("x"), 401, "INVALID_TOKEN")
            expectError(
                try await client.recover("x", ["newPassword": .string(APIClient.password)]), 401, "INVALID_TOKEN")
            expectError(try await client.accept("x"), 429, "RATE_LIMITED")
        }
    }
}
