import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

/// Sign in with Apple against a scripted Apple server over HTTP.
struct AppleSignInTests {
    struct Apple: Sendable {
        let server: TestServer
        let client: APIClient
        let upstream: UpstreamServer
        let authority: TestAuthority

        func claims(_ subject: String, _ more: [String: JSONValue] = [:]) -> [String: JSONValue] {
            Self.claims(subject, more, at: upstream)
        }

        static func claims(
            _ subject: String, _ more: [String: JSONValue] = [:], at upstream: UpstreamServer
        ) -> [String: JSONValue] {
            let now = Int64(Date().timeIntervalSince1970)
            let standard: [String: JSONValue] = [
                "iss": .string(upstream.url), "aud": "net.example.app", "sub": .string(subject), "iat": .integer(now),
                "exp": .integer(now + 600),
            ]
            return standard.merging(more) { $1 }
        }

        func token(_ subject: String, _ more: [String: JSONValue] = [:]) throws -> String {
            try authority.token(claims(subject, more))
        }

        func signIn(_ token: String, _ more: [String: JSONValue] = [:]) async throws -> APIClient.Answer {
            try await client.post("/auth/apple", .object(["identityToken": .string(token)].merging(more) { $1 }))
        }

        func notify(_ type: String, _ subject: String, id: String = UUID().uuidString) async throws -> APIClient.Answer
        {
            let event: JSONValue = ["type": .string(type), "sub": .string(subject)]
            let text = String(decoding: try JSONEncoder().encode(event), as: UTF8.self)
            let payload = try authority.token(
                claims("", ["events": .string(text), "jti": .string(id), "sub": .null]).filter { !$0.value.isNull })
            return try await client.post("/auth/apple/notifications", ["payload": .string(payload)])
        }
    }

    /// Runs the body with a fake Apple; `application` are further keys of the application.
    func with(
        application: String = "", tokens: String = "algorithm: ES256",
        _ body: @Sendable @escaping (Apple) async throws -> Void
    ) async throws {
        try await withService { upstream, authority, provider in
            try await TestServer.with(
                application: "redirectURIs: [\"demo://oauth/callback\"]\n" + application, providers: provider,
                tokens: tokens
            ) { server in
                try await body(
                    Apple(server: server, client: APIClient(server), upstream: upstream, authority: authority))
            }
        }
    }

    /// Runs the body with a fake Apple, the key that it signs with, and the entry of `providers` for it.
    func withService(
        _ body: @Sendable @escaping (UpstreamServer, TestAuthority, _ provider: String) async throws -> Void
    ) async throws {
        try await UpstreamServer.with { upstream in
            let authority = try TestAuthority(.rs256)
            let developer = try TestAuthority(.es256)
            upstream.service.answer(upstream.url + "/auth/keys") { _ in .json(authority.keySet) }
            let key = developer.privateKeyPEM.replacing("\n", with: "\\n")
            try await body(
                upstream, authority,
                """
                apple: { clientIDs: [net.example.app, net.example.web], webClientID: net.example.web, \
                teamID: TEAM, keyID: KEY, privateKey: "\(key)", baseURL: "\(upstream.url)" }
                """)
        }
    }

    @Test func `the signed address counts, the name is kept, and the body's address is nothing`() async throws {
        try await with { apple in
            let first = try await apple.signIn(
                apple.token(
                    "001",
                    [
                        "email": "ada@privaterelay.appleid.com", "email_verified": "true",
                        "is_private_email": "true",
                    ]),
                [
                    "fullName": ["givenName": "Ada", "familyName": "Lovelace"], "email": "president@example.com",
                ])
            #expect(first.status == 200, "\(first.text)")
            #expect(first["isNewAccount"] == true && first["user"]["displayName"] == "Ada Lovelace")
            #expect(first["user"]["email"] == "ada@privaterelay.appleid.com")
            #expect(first["auth"]["provider"] == "apple" && first["auth"]["providerUid"] == "001")
            #expect(
                try await apple.server.count(
                    "SELECT count(*) FROM identities WHERE profile @> '{\"isPrivateEmail\": true}'") == 1)
            let second = try await apple.signIn(apple.token("001"))
            #expect(second["isNewAccount"] == false && second["user"]["id"] == first["user"]["id"])
            #expect(second["auth"]["displayName"] == "Ada Lovelace")
        }
    }

    @Test func `a nonce is the raw value or its hash, and works once`() async throws {
        try await with { apple in
            let hash = "8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92"
            let hashed = try apple.token("001", ["nonce": .string(hash)])
            expectError(try await apple.signIn(hashed), 401, "INVALID_TOKEN", "without the nonce")
            expectError(try await apple.signIn(hashed, ["nonce": "1234567"]), 401, "INVALID_TOKEN", "another")
            let answers = try await atOnce(10) { try await apple.signIn(hashed, ["nonce": "123456"]) }
            #expect(answers.count { $0.status == 200 } == 1)
            for person in ["001", "002"] {
                let token = try apple.token(person, ["nonce": "raw", "email": .string("\(person)@example.com")])
                let first = try await apple.signIn(token, ["nonce": "raw"])
                #expect(first.status == 200, "\(first.text)")
                expectError(try await apple.signIn(token, ["nonce": "raw"]), 401, "INVALID_TOKEN")
            }
            let without = try apple.token("001")
            expectError(try await apple.signIn(without, ["nonce": "raw"]), 401, "INVALID_TOKEN")
            for _ in 1...2 { #expect(try await apple.signIn(without).status == 200) }
        }
    }

    @Test func `forged and misused tokens are refused, and the keys fetched once`() async throws {
        try await with { apple in
            for (name, token) in try apple.authority.attacks(on: apple.claims("001"), now: Date()) {
                expectError(try await apple.signIn(token), 401, "INVALID_TOKEN", name)
            }
            for token in ["", "x", "a.b.c", String(repeating: "a", count: 40_000)] {
                expectRefusal(try await apple.signIn(token))
            }
            #expect(try await apple.signIn(apple.token("001")).status == 200)
            #expect(apple.upstream.count("/auth/keys") <= 2)
            #expect(apple.upstream.service.requests.count == apple.upstream.count("/auth/keys"), "no other request")
        }
    }

    @Test func `the code's refresh token is kept, and an outage of Apple refuses no sign-in`() async throws {
        try await with { apple in
            let url = apple.upstream.url + "/auth/token"
            let stranger = try apple.token("002")
            let own = try apple.token("001")
            apple.upstream.service.answer(url) { request in
                switch request.form?["code"] {
                case "good": .json(["refresh_token": "r", "id_token": .string(own)])
                case "stolen": .json(["refresh_token": "s", "id_token": .string(stranger)])
                default: .json(["error": "invalid_grant"], status: 400)
                }
            }
            for (code, kept) in [("stolen", 0), ("used", 0), ("good", 1)] {
                let answer = try await apple.signIn(apple.token("001"), ["authorizationCode": .string(code)])
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try await apple.server.count("SELECT count(*) FROM provider_tokens") == kept, "\(code)")
            }
            let sent = apple.upstream.service.requests.last { $0.url == url }?.form
            let secret = try DecodedToken(sent?["client_secret"] ?? "")
            #expect(sent?["client_id"] == "net.example.app" && secret.header["kid"] == "KEY")
            #expect(secret.claims["iss"] == "TEAM" && secret.claims["sub"] == "net.example.app")
        }
    }

    @Test func `on the web Apple posts a form, whose user object provides only the name`() async throws {
        try await with { apple in
            var web = RedirectClient(api: apple.client)
            web.provider = "apple"
            let flow = try await web.begin(["mode": "redirect"])
            #expect(flow.url.path == "/auth/authorize" && flow.url.query("response_mode") == "form_post")
            let idToken = try apple.token(
                "001",
                [
                    "aud": "net.example.web", "nonce": .string(flow.url.query("nonce") ?? ""),
                    "email": "ada@example.com", "email_verified": true,
                ])
            apple.upstream.service.answer(apple.upstream.url + "/auth/token") { _ in
                .json(["id_token": .string(idToken), "refresh_token": "r"])
            }
            let user = #"{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"president@example.com"}"#
            let back = try await web.callback(
                flow, ["code": "c", "user": user], isForm: true, headers: ["origin": apple.upstream.url])
            let answer = try await web.redeem(back.redirect.query("code"))
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer["user"]["displayName"] == "Ada Lovelace" && answer["user"]["email"] == "ada@example.com")
            #expect(try await apple.server.count("SELECT count(*) FROM provider_tokens") == 1)

            let replayed = try await web.callback(web.begin(["mode": "redirect"]), ["code": "c"], isForm: true)
            #expect(try replayed.redirect.query("error") == "access_denied", "a token of another flow")
        }
    }

    @Test(arguments: ["account-delete", "account-deleted"])
    func `Apple's events act once, in both spellings`(type: String) async throws {
        try await with { apple in
            let person = try Person(try await apple.signIn(apple.token("001")), email: "", password: "")
            #expect(try await apple.notify("consent-revoked", "001", id: "one").status == 200)
            expectError(try await apple.client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
            let again = try Person(try await apple.signIn(apple.token("001")), email: "", password: "")
            #expect(again.uid == person.uid)
            #expect(try await apple.notify("consent-revoked", "001", id: "one").status == 200)
            #expect(try await apple.client.get("/auth/me", bearer: again.accessToken).status == 200, "once only")
            #expect(try await apple.notify(type, "001").status == 200)
            expectError(try await apple.signIn(apple.token("001")), 403, "ACCOUNT_DELETED")
            let forged = try TestAuthority(.rs256).token(apple.claims("001", ["jti": "x", "events": "{}"]))
            expectError(
                try await apple.client.post("/auth/apple/notifications", ["payload": .string(forged)]), 401,
                "INVALID_TOKEN")
        }
    }
}
