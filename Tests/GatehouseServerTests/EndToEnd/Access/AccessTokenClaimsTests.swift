import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Roles and claims in tokens and in `user`.
struct AccessTokenClaimsTests {
    @Test func `access tokens carry roles and claims, nested, from the next one on`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let before = try DecodedToken(person.accessToken).claims
            #expect(before["roles"].isNull && before["claims"].isNull, "empty ones are left out")
            let claims: [String: JSONValue] = [
                "plan": "pro", "sub": "somebody", "aud": "videos", "exp": 0, "uid": "other", "roles": ["admin"],
                "org": ["teams": [["red", 1, .number(0.5), true]]],
            ]
            try await server.setAccess(["moderator", "editor"], claims: claims, of: person.uid)
            let former = try await client.get("/auth/me", bearer: person.accessToken)
            #expect(former.status == 200, "an earlier token stays")
            let answers = [
                try await client.refresh(person.refreshToken), try await client.login(person.email),
            ]
            for answer in answers {
                let token = try answer.accessClaims()
                #expect(token["roles"] == ["editor", "moderator"] && token["claims"] == .object(claims))
                #expect(token["sub"].string == person.uid && token["uid"].string == person.uid)
                #expect(token["aud"] == "demo" && token["exp"] != 0)
                let me = try await client.get("/auth/me", bearer: answer["accessToken"].string)
                #expect(me["roles"] == ["editor", "moderator"] && me["claims"] == .object(claims), "\(me.text)")
                #expect(answer["auth"]["roles"].isNull && answer["auth"]["claims"].isNull)
            }
            #expect(answers[1]["user"]["roles"] == ["editor", "moderator"])
            #expect(answers[1]["user"]["claims"] == .object(claims))

            try await server.setAccess([], claims: [:], of: person.uid)
            let after = try await client.login(person.email)
            let token = try after.accessClaims()
            #expect(token["roles"].isNull && token["claims"].isNull)
            #expect(after["user"]["roles"] == [] && after["user"]["claims"] == [:])
        }
    }

    @Test func `the largest roles and claims fit into a token that every call accepts`() async throws {
        try await TestServer.with(
            application: "claims: { largest: 4096 }", providers: "scripted: { expose: [big] }",
            tokens: "algorithm: RS256, rsaBits: 4096"
        ) { server in
            let client = APIClient(server)
            var evidence = VerifiedIdentity.somebody(String(repeating: "s", count: 255))
            evidence.profile = ["big": .string(String(repeating: "b", count: 2036))]
            let person = try Person(try await client.present(evidence), email: "", password: "")
            let roles = (10...41).map { "\(String(repeating: "r", count: 30))\($0)" }
            let claims: [String: JSONValue] = ["a": .string(String(repeating: "\"", count: 2044))]
            try await server.setAccess(roles, claims: claims, of: person.uid)
            let answer = try await client.refresh(person.refreshToken)
            let bearer = try #require(answer["accessToken"].string, "\(answer.text)")
            #expect(bearer.utf8.count > 8192)
            let token = try DecodedToken(bearer).claims
            #expect(token["roles"].array?.count == 32 && token["claims"] == .object(claims))
            #expect(token["big"] == evidence.profile["big"])
            #expect(try await client.status(of: bearer) == 200)
        }
    }

    @Test func `a guest who signs up keeps them`() async throws {
        try await TestServer.linking { server, client in
            let guest = try await client.guest()
            try await server.setAccess(["beta"], claims: ["invitedBy": "x"], of: guest.uid)
            let upgraded = try await client.link(.somebody(), bearer: guest.accessToken)
            #expect(upgraded["user"]["id"].string == guest.uid && upgraded["user"]["roles"] == ["beta"])
            let token = try upgraded.accessClaims()
            #expect(token["roles"] == ["beta"] && token["claims"] == ["invitedBy": "x"])
        }
    }

    @Test func `OpenID clients get them with the scope account alone, and only in access tokens`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            try await server.setAccess(["editor"], claims: ["plan": "pro"], of: person.uid)
            let cookie = try await party.browser(of: person)
            let asked = #"{"userinfo":{"email":null,"roles":null},"id_token":{"roles":null,"claims":null}}"#
            let answer = try await party.redeem(
                party.code(["scope": "openid account offline_access", "claims": asked], cookie: cookie))
            let token = try answer.accessClaims()
            #expect(token["roles"] == ["editor"] && token["claims"] == ["plan": "pro"], "\(token)")
            let identity = try DecodedToken(answer["id_token"].string ?? "").claims
            #expect(identity["roles"].isNull && identity["claims"].isNull)
            let access = try #require(answer["access_token"].string)
            let info = try await party.userInfo(access)
            #expect(info["email"].string == person.email, "what the client asked for by name: \(info.text)")
            #expect(info["roles"].isNull && info["claims"].isNull)
            let inspected = try await party.post("/oauth/introspect", ["token": access])
            #expect(inspected["active"] == true && inspected["roles"].isNull && inspected["claims"].isNull)
            let me = try await party.api.get("/auth/me", bearer: access)
            #expect(me["roles"] == ["editor"])

            try await server.setAccess(["moderator"], of: person.uid)
            let refreshed = try await party.refresh(answer["refresh_token"].string ?? "")
            #expect(try refreshed.accessClaims()["roles"] == ["moderator"])
            let plain = try await party.redeem(party.code(["scope": "openid profile"], cookie: cookie))
            let without = try plain.accessClaims()
            #expect(without["roles"].isNull && without["claims"].isNull, "without the scope: \(without)")

            let (app, _) = try await party.install()
            _ = try await app.bind(to: person)
            let own = try await app.credentials()
            let bySecret = try own.accessClaims()
            #expect(bySecret["roles"] == ["moderator"] && bySecret["claims"] == ["plan": "pro"], "\(own.text)")
        }
    }
}
