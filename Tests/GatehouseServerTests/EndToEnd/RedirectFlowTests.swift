import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

/// Signing in by redirects to a provider's pages and back.
struct RedirectFlowTests {
    static let application = """
        redirectURIs: ["demo://oauth/callback", "demo://oauth/Kept", "https://app.example/back?from=id", { uri: "old://callback", pkce: false }]
        """

    private func with(_ body: @Sendable @escaping (TestServer, RedirectClient) async throws -> Void) async throws {
        try await TestServer.with(
            application: Self.application,
            providers: "scripted: {}\nother: { kind: scripted }\nclosed: { kind: scripted, enabled: false }"
        ) { server in
            try await body(server, RedirectClient(api: APIClient(server)))
        }
    }

    @Test func `a flow ends with a session of the person that the provider identifies`() async throws {
        try await with { server, client in
            let flow = try await client.begin(["state": "my state & more"])
            #expect(flow.authorization.status == 200)
            #expect(flow.authorization.json.keys == ["url", "state"])
            #expect(flow.authorization["state"] == "my state & more")
            #expect(flow.state != "my state & more" && flow.state.count == 43)
            let callbackURL = "http://127.0.0.1:1/api/v1/auth/oauth/scripted/callback"
            #expect(flow.url.query("callback") == callbackURL)
            let evidence = VerifiedIdentity.somebody("ada", email: "ada@example.com")
            let back = try await client.callback(
                flow,
                [
                    "code": try evidence.proof, "nonce": flow.url.query("nonce") ?? "",
                    "challenge": flow.url.query("challenge") ?? "",
                ])
            let arrival = try back.redirect
            #expect(back.status == 302 && back.headers.first(name: "cache-control") == "no-store")
            #expect(arrival.scheme == "demo" && arrival.query("state") == "my state & more")
            #expect(Set(arrival.queryItems?.map(\.name) ?? []) == ["code", "state"])
            let answer = try await client.redeem(arrival.query("code"), state: "my state & more")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer["isNewAccount"] == true)
            #expect(answer["auth"]["provider"] == "scripted" && answer["auth"]["providerUid"] == "ada")
            #expect(answer["user"]["email"] == "ada@example.com" && answer["user"]["emailVerified"] == true)
            #expect(
                try await server.count("SELECT count(*) FROM redirect_flows WHERE sealed_evidence IS NOT NULL") == 0)
        }
    }

    @Test func `invalid requests of an app are refused before the redirect`() async throws {
        try await with { server, client in
            expectError(try await client.authorize(omitting: ["redirect_uri"]), 400, "MISSING_PARAMETER")
            // The Kelvin sign is canonically equivalent to the letter K but a different code point.
            for uri in [
                "demo://oauth/callback/", "https://evil.example", "demo://oauth/callback?x=1",
                "demo://oauth/\u{212A}ept",
            ] {
                expectError(
                    try await client.authorize(["redirect_uri": uri]), 403, "UNAUTHORIZED_REQUEST_ORIGIN", uri)
            }
            expectError(
                try await client.authorize(omitting: ["code_challenge", "code_challenge_method"]), 400,
                "MISSING_PARAMETER")
            expectError(
                try await client.authorize(omitting: ["code_challenge_method"]), 400, "INVALID_PARAMETER")
            expectError(
                try await client.authorize(["code_challenge_method": "plain"]), 400, "INVALID_PARAMETER")
            expectError(try await client.authorize(["code_challenge": "short"]), 400, "INVALID_PARAMETER")
            expectError(try await client.authorize(["mode": "popup"]), 400, "INVALID_PARAMETER")
            var other = client
            other.provider = "nobody"
            expectError(try await other.authorize(), 404, "UNSUPPORTED_PROVIDER")
            other.provider = "closed"
            expectError(try await other.authorize(), 403, "PROVIDER_DISABLED")
            other.provider = "email"
            expectError(try await other.authorize(), 404, "UNSUPPORTED_PROVIDER")
            #expect(try await server.count("SELECT count(*) FROM redirect_flows") == 0)
        }
    }

    @Test func `a client without PKCE works if its redirect URI allows it`() async throws {
        try await with { _, client in
            var old = client
            old.redirectURI = "old://callback"
            let flow = try await old.begin(omitting: ["code_challenge", "code_challenge_method"])
            let state = try #require(flow.authorization["state"].string)
            let arrival = try await old.arrive(flow, with: .somebody())
            #expect(arrival.query("state") == state)
            let answer = try await old.redeem(arrival.query("code"), state: state, withoutVerifier: true)
            #expect(answer.status == 200, "\(answer.text)")

            for (sent, verifier, code) in [
                (nil, nil, "MISSING_PARAMETER"), ("other", nil, "INVALID_STATE"), (state, "v", "INVALID_TOKEN"),
            ] as [(String?, String?, String)] {
                let flow = try await old.begin(omitting: ["code_challenge", "code_challenge_method"])
                let own = flow.authorization["state"].string
                let arrival = try await old.arrive(flow, with: .somebody())
                let refused = try await old.redeem(
                    arrival.query("code"), state: sent == state ? own : sent, verifier: verifier,
                    withoutVerifier: verifier == nil)
                #expect(refused.code == code, "\(refused.text)")
            }
        }
    }

    @Test func `a wrong verifier, redirect URI or state uses the code up`() async throws {
        try await with { _, client in
            var client = client
            client.redirectURI = "demo://oauth/Kept"
            for (verifier, uri, state, code) in [
                ("x" + client.verifier.dropFirst(), nil, nil, "INVALID_TOKEN"),
                ("", nil, nil, "INVALID_TOKEN"),
                (nil, "old://callback", nil, "INVALID_TOKEN"),
                (nil, "demo://oauth/\u{212A}ept", nil, "INVALID_TOKEN"),
                (nil, nil, "\u{212A}", "INVALID_STATE"),
                (nil, nil, "another", "INVALID_STATE"),
            ] as [(String?, String?, String?, String)] {
                let arrival = try await client.arrive(client.begin(["state": "K"]), with: .somebody())
                let refused = try await client.redeem(
                    arrival.query("code"), state: state, verifier: verifier, redirectURI: uri)
                #expect(refused.code == code, "\(refused.text)")
                expectError(try await client.redeem(arrival.query("code")), 401, "INVALID_TOKEN", "used up")
            }
            let arrival = try await client.arrive(client.begin(), with: .somebody())
            expectError(
                try await client.redeem(arrival.query("code"), withoutVerifier: true), 400, "MISSING_PARAMETER")
            expectError(try await client.redeem("nonsense"), 401, "INVALID_TOKEN")
        }
    }

    @Test func `a code redeemed twenty times at once gives one session, and a late replay ends it`() async throws {
        try await with { server, client in
            var (code, bearer) = (String?.none, "")
            // A redemption two seconds after the first one is a replay, so on a slow machine this is tried again.
            for _ in 1...20 {
                code = try await client.arrive(client.begin(), with: .somebody("ada")).query("code")
                let (redeemed, began) = (code, ContinuousClock.now)
                let answers = try await atOnce(20) { try await client.redeem(redeemed) }
                let elapsed = ContinuousClock.now - began
                let succeeded = answers.filter { $0.status == 200 }
                #expect(succeeded.count == 1)
                #expect(answers.allSatisfy { $0.status == 200 || $0.code == "INVALID_TOKEN" })
                bearer = try #require(succeeded.first?["accessToken"].string)
                if elapsed < .seconds(2) { break }
            }
            #expect(try await client.api.get("/auth/me", bearer: bearer).status == 200, "a double click ends nothing")
            try await server.age("redirect_flows", "redeemed_at", by: "3 seconds")
            expectError(try await client.redeem(code), 401, "INVALID_TOKEN")
            expectError(try await client.api.get("/auth/me", bearer: bearer), 401, "INVALID_TOKEN")
            let session = try DecodedToken(bearer).claims["sid"].string ?? ""
            let reason = try await server.text(
                "SELECT end_reason FROM sessions WHERE id = $1", [.uuid(UUID(uuidString: session))])
            #expect(reason == "codeReplayed")
        }
    }

    @Test func `a code is valid for a minute`() async throws {
        try await with { server, client in
            let arrival = try await client.arrive(client.begin(), with: .somebody())
            let lifetime = try await server.count(
                "SELECT round(extract(epoch FROM expires_at - now()))::bigint FROM redirect_flows")
            #expect((50...60).contains(lifetime))
            try await server.execute("UPDATE redirect_flows SET expires_at = now() - interval '1 second'")
            expectError(try await client.redeem(arrival.query("code")), 401, "INVALID_TOKEN")
        }
    }

    @Test func `a state works once, for its own provider, in its own browser`() async throws {
        try await with { _, client in
            let proof = try VerifiedIdentity.somebody().proof
            let used = try await client.begin()
            #expect(try await client.callback(used, ["code": proof]).status == 302)
            expectPage(try await client.callback(used, ["code": proof]))

            var other = client
            other.provider = "other"
            let flow = try await client.begin()
            expectPage(try await other.callback(flow, ["code": proof]))
            #expect(try await client.callback(flow, ["code": proof]).status == 302, "and is still good for its own")

            let bound = try await client.begin(["mode": "redirect"])
            #expect(bound.authorization.status == 302)
            let cookie = try #require(bound.authorization.headers.first(name: "set-cookie"))
            for attribute in ["Secure", "HttpOnly", "SameSite=None", "Path=/api/v1/auth/oauth/scripted/callback"] {
                #expect(cookie.contains("; \(attribute)"), "\(cookie)")
            }
            let name = cookie.prefix { $0 != "=" }
            expectPage(try await client.callback(bound, ["code": proof], cookie: "a=b"))
            expectPage(try await client.callback(bound, ["code": proof], cookie: "\(name)=\(used.state)"))
            #expect(try await client.callback(bound, ["code": proof]).status == 302)

            let unknown = try await client.api.send(.GET, "/api/v1/auth/oauth/scripted/callback?state=x&code=y")
            expectPage(unknown)
            let german = try await client.api.send(
                .GET, "/api/v1/auth/oauth/scripted/callback?state=x&code=y", headers: ["accept-language": "de"])
            expectPage(german)
            #expect(german.text.contains("<html lang=\"de\">"))
            #expect(german.text.contains("data-error=\"not_your_request\""))
            expectPage(try await client.api.send(.GET, "/api/v1/auth/oauth/scripted/callback"))
            expectPage(try await client.api.send(.GET, "/api/v1/auth/oauth/scripted/callback?state=%FF&code=%00"))
            expectPage(
                try await client.api.send(.GET, "/api/v1/auth/oauth/scripted/callback?state=\(used.state)&state=b"))
        }
    }

    private func expectPage(_ answer: APIClient.Answer, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(answer.status == 400, sourceLocation: sourceLocation)
        #expect(answer.headers.first(name: "location") == nil, sourceLocation: sourceLocation)
        #expect(answer.text.contains("<main data-step=\"error\" data-error=\""), sourceLocation: sourceLocation)
        #expect(
            answer.headers.first(name: "content-type")?.hasPrefix("text/html") == true, sourceLocation: sourceLocation)
    }

    @Test func `every error of the provider ends at the app`() async throws {
        try await with { _, client in
            var app = client
            app.redirectURI = "https://app.example/back?from=id"
            for (parameters, error) in [
                (["error": "access_denied", "error_description": "No\nthanks"], "access_denied"),
                (["error": "bad \"thing\""], "server_error"),
                (["code": "refused"], "access_denied"), (["code": "unavailable"], "temporarily_unavailable"),
                (["code": "malformed"], "server_error"), ([:], "access_denied"),
            ] {
                let flow = try await app.begin(["state": "s"])
                let arrival = try await app.callback(flow, parameters).redirect
                #expect(arrival.query("error") == error)
                #expect(arrival.query("error_description")?.contains("\n") == false)
                #expect(arrival.query("state") == "s" && arrival.query("from") == "id")
                #expect(arrival.query("code") == nil)
            }
        }
    }

    @Test func `a provider may post its answer from its own pages`() async throws {
        try await with { _, client in
            let flow = try await client.begin(["mode": "redirect"])
            let answer = try await client.callback(
                flow, ["code": VerifiedIdentity.somebody().proof], isForm: true,
                headers: ["origin": "https://appleid.apple.com"])
            #expect(answer.status == 302, "\(answer.text)")
            #expect(answer.headers.first(name: "set-cookie")?.contains("Max-Age=0") == true)
            #expect(try await client.redeem(answer.redirect.query("code")).status == 200)
        }
    }

    @Test func `refusals and tickets come at redemption, never in a URL`() async throws {
        try await with { server, client in
            let person = try Person(try await client.signIn(.somebody("ada")), email: "", password: "")
            try await server.setDisabled(true, person)
            let disabled = try await client.arrive(client.begin(), with: .somebody("ada"))
            expectError(try await client.redeem(disabled.query("code")), 403, "ACCOUNT_DISABLED")
            expectError(try await client.redeem(disabled.query("code")), 401, "INVALID_TOKEN", "used up by the refusal")
            try await server.setDisabled(false, person)
            let again = try Person(try await client.signIn(.somebody("ada")), email: "", password: "")
            #expect(try await client.api.delete("/auth/account", bearer: again.accessToken).status == 204)
            let deleted = try await client.signIn(.somebody("ada"))
            expectError(deleted, 403, "ACCOUNT_DELETED")
            let token = try #require(deleted["error"]["details"]["restoreToken"].string)
            let restored = try await client.api.post("/auth/account/restore", ["restoreToken": .string(token)])
            #expect(restored.status == 200 && restored["user"]["id"].string == person.uid, "\(restored.text)")
        }
    }

    @Test func `the first sign-in from twenty devices at once makes one account`() async throws {
        try await with { server, client in
            let codes = try await atOnce(20) {
                try await client.arrive(client.begin(), with: .somebody("ada", email: "ada@example.com")).query("code")
            }
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                for code in codes { group.addTask { try await client.redeem(code) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers.map(\.text).filter { $0.contains("error") })")
            #expect(Set(answers.map { $0["user"]["id"] }).count == 1)
            #expect(answers.count { $0["isNewAccount"] == true } == 1)
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
        }
    }

    @Test func `providers with pages are listed as such, and take native tokens`() async throws {
        try await with { _, client in
            let listed = try await client.api.get("/auth/providers")
            let scripted = listed["providers"].array?.first { $0["name"] == "scripted" }
            #expect(scripted?["flow"] == "redirect" && scripted?["kind"] == "scripted")
            #expect(listed["providers"].array?.contains { $0["name"] == "closed" } == false)
            let proof = try VerifiedIdentity.somebody("ada").proof
            let native = try await client.api.post("/auth/oauth/scripted/token", ["idToken": .string(proof)])
            #expect(native.status == 200 && native["auth"]["providerUid"] == "ada", "\(native.text)")
            expectError(try await client.api.post("/auth/oauth/scripted/token"), 400, "MISSING_PARAMETER")
            expectError(
                try await client.api.post("/auth/oauth/email/token", ["idToken": "x"]), 404, "UNSUPPORTED_PROVIDER")
            expectError(
                try await client.api.post("/auth/scripted", ["proof": .string(proof)]), 400, "MISSING_PARAMETER",
                "two are of this kind")
        }
    }
}
