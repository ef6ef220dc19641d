import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The authorization endpoint: its parameters, and the answers that need no page.
struct AuthorizationTests {
    @Test func `a browser that is signed in gets a code without a page`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let answer = try await party.authorize(cookie: cookie)
            #expect(answer.status == 303 && answer.headers.first(name: "cache-control") == "no-store")
            #expect(answer.headers.first(name: "location")?.hasPrefix(party.redirectURI + "?code=") == true)
            #expect(answer.returned("state") == "s t&" && answer.returned("iss") == "http://127.0.0.1:1")
            #expect(try await server.count("SELECT count(*) FROM authorization_requests") == 0)
            #expect(try await party.authorize(["prompt": "none"], cookie: cookie).returned("code") != nil)
        }
    }

    @Test func `a browser that is not signed in is sent to a page, bound by a cookie`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            for cookie in [nil, "gatehouse-sso-demo=\(String(repeating: "A", count: 43))"] {
                let answer = try await party.authorize(cookie: cookie)
                #expect(answer.status == 303)
                #expect(answer.headers.first(name: "location")?.hasPrefix("http://127.0.0.1:1/signin/") == true)
                let set = answer.headers.first(name: "set-cookie") ?? ""
                #expect(set.hasPrefix("gatehouse-browser-demo=") && set.contains("HttpOnly; SameSite=Lax"))
                let silent = try await party.authorize(["prompt": "none"], cookie: cookie)
                #expect(silent.returned("error") == "login_required" && silent.returned("state") == "s t&")
            }
        }
    }

    @Test func `a session that has ended, or was idle too long, is no sign-in`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person, idle: "1 hour")
            _ = try await party.code(cookie: cookie)
            try await server.age("sessions", "last_used_at", by: "61 minutes", where: "kind = 'browser'")
            // The request that finds the session idle does not count as its use.
            for prompt in ["login", "none", "none"] {
                let answer = try await party.authorize(["prompt": prompt], cookie: cookie)
                #expect(answer.returned("code") == nil)
                #expect(answer.returned("error") == (prompt == "none" ? "login_required" : nil))
            }
            let other = try await party.browser(of: person)
            _ = try await party.api.post("/auth/logout", ["scope": "global"], bearer: person.accessToken)
            #expect(try await party.authorize(["prompt": "none"], cookie: other).returned("error") == "login_required")
        }
    }

    @Test func `without a known client and redirect URI the browser is sent nowhere`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let wrong = [
                ("client_id", "nobody", "invalid_client"), ("client_id", "jobs", "invalid_redirect_uri"),
                ("client_id", "we\u{212A}", "invalid_client"),
                ("redirect_uri", party.redirectURI + "/", "invalid_redirect_uri"),
                ("redirect_uri", "https://photos.example/cb?x=1", "invalid_redirect_uri"),
                ("redirect_uri", "https://gallery.example/cb", "invalid_redirect_uri"),
            ]
            for (name, value, fault) in wrong {
                let answer = try await party.authorize([name: value], cookie: cookie)
                #expect(answer.status == 400 && answer.headers.first(name: "location") == nil, "\(name)=\(value)")
                #expect(answer.text.contains("data-error=\"\(fault)\""), "\(name)=\(value)")
                expectUnframed(answer, "\(name)=\(value)")
            }
            let doubled = try await party.api.send(
                .GET, "/oauth/authorize?client_id=web&client_id=web&redirect_uri=\(party.redirectURI.formEncoded)")
            #expect(doubled.status == 400 && doubled.text.contains("data-error=\"invalid_client\""))
            let nul = try await party.authorize(["scope": "openid\0"], cookie: cookie)
            #expect(nul.status == 400 && nul.text.contains("data-error=\"invalid_request\""))
        }
    }

    /// Expects a page that no other site can show in a frame, and no cache keeps.
    private func expectUnframed(_ answer: APIClient.Answer, _ about: String) {
        let policy = answer.headers.first(name: "content-security-policy")
        #expect(policy?.contains("frame-ancestors 'none'") == true, "\(about)")
        #expect(answer.headers.first(name: "x-frame-options") == "DENY", "\(about)")
        #expect(answer.headers.first(name: "cache-control") == "no-store", "\(about)")
    }

    private static let faults: [(changes: [String: String], error: String)] = [
        (["response_type": "token"], "unsupported_response_type"), (["response_type": ""], "invalid_request"),
        (["response_mode": "fragment"], "invalid_request"), (["scope": "nothing"], "invalid_scope"),
        (["scope": ""], "invalid_scope"), (["code_challenge": ""], "invalid_request"),
        (["code_challenge_method": "plain"], "invalid_request"), (["code_challenge": "short"], "invalid_request"),
        (["code_challenge_method": ""], "invalid_request"), (["code_challenge_method": "s256"], "invalid_request"),
        (["code_challenge": RelyingParty.verifier, "code_challenge_method": "plain"], "invalid_request"),
        (["prompt": "none login"], "invalid_request"), (["prompt": "dance"], "invalid_request"),
        (["max_age": "-1"], "invalid_request"), (["max_age": "soon"], "invalid_request"),
        (["max_age": "1.5"], "invalid_request"), (["max_age": "12345678901s"], "invalid_request"),
        (["claims": "[]"], "invalid_request"), (["request": "e30.e30."], "request_not_supported"),
        (["request_uri": "https://photos.example/request"], "request_uri_not_supported"),
        (["registration": "{}"], "registration_not_supported"),
        (["resource": "https://other.example"], "invalid_target"),
        (["id_token_hint": "e30.e30.AAAA"], "invalid_request"),
        (["nonce": String(repeating: "n", count: 513)], "invalid_request"),
        (["state": String(repeating: "s", count: 2049)], "invalid_request"),
    ]

    @Test func `a client without the grant is told so at its redirect URI`() async throws {
        let configuration = RelyingParty.configuration.replacing(
            "grants: [client_credentials]",
            with: "grants: [client_credentials]\n      redirectURIs: [\"https://jobs.example/cb\"]")
        try await TestServer.with(application: configuration) { server in
            var jobs = RelyingParty(server)
            (jobs.client, jobs.redirectURI) = ("jobs", "https://jobs.example/cb")
            let answer = try await jobs.authorize(cookie: nil)
            #expect(answer.returned("error") == "unauthorized_client" && answer.returned("state") == "s t&")
            #expect(try await jobs.post("/oauth/par", jobs.parameters()).isOAuthError(400, "unauthorized_client"))
        }
    }

    @Test func `hints for display are cut instead of refused, and scopes have the configured bytes`() async throws {
        let configuration = RelyingParty.configuration.replacing("read: See", with: "Kelvin: See")
        try await TestServer.with(application: configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let long = [
                "ui_locales": String(repeating: "de ", count: 200), "scope": "openid \u{212A}elvin",
            ]
            let tokens = try await party.redeem(party.code(long, cookie: cookie))
            #expect(tokens["scope"] == "openid")
        }
    }

    @Test func `every other fault goes to the client`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            for (changes, error) in Self.faults {
                let answer = try await party.authorize(changes, cookie: cookie)
                #expect(answer.status == 303 && answer.returned("error") == error, "\(changes): \(answer.headers)")
                #expect(answer.returned("code") == nil && answer.returned("iss") == "http://127.0.0.1:1")
                #expect(answer.returned("state") == (changes["state"] == nil ? "s t&" : nil), "\(changes)")
                let posted = try await party.authorize(
                    changes.merging(["response_mode": changes["response_mode"] ?? "form_post"]) { $1 }, cookie: cookie)
                guard changes["response_mode"] == nil else { continue }
                #expect(posted.status == 200 && posted.headers.first(name: "location") == nil, "\(changes)")
                #expect(posted.text.contains("action=\"\(party.redirectURI)\""), "\(changes)")
                #expect(posted.text.contains("name=\"iss\" value=\"http://127.0.0.1:1\""), "\(changes)")
                expectUnframed(posted, "\(changes)")
                #expect(posted.text.contains("name=\"error\" value=\"\(error)\""), "\(changes): \(posted.text)")
            }
        }
    }

    @Test func `max_age and the level are judged by what the session proves`() async throws {
        let configuration = RelyingParty.configuration.replacing(
            "name: Loose", with: "name: Loose\n      defaultMaxAge: 50")
        try await TestServer.with(application: configuration) { server in
            let party = RelyingParty(server)
            var loose = party
            loose.client = "loose"
            let cookie = try await party.browser(of: party.api.register(at: server))
            try await server.age("sessions", "authenticated_at", by: "100 seconds", where: "kind = 'browser'")
            func level(_ value: String, isEssential: Bool) -> [String: String] {
                ["claims": #"{"id_token":{"acr":{"value":"\#(value)","essential":\#(isEssential)}}}"#]
            }
            let cases: [(RelyingParty, [String: String], String?)] = [
                (party, ["max_age": "0"], "login_required"), (party, ["max_age": "99"], "login_required"),
                (party, ["max_age": "3600"], nil), (party, ["max_age": "9999999999"], nil), (party, [:], nil),
                (party, ["max_age": String(repeating: "9", count: 40)], nil),
                (party, ["max_age": String(repeating: "0", count: 40) + "99"], "login_required"),
                (loose, [:], "login_required"), (loose, ["max_age": "3600"], nil),
                (party, level("2", isEssential: true), "unmet_authentication_requirements"),
                (party, level("2", isEssential: false), nil), (party, level("1", isEssential: true), nil),
                (party, ["acr_values": "2"], nil),
            ]
            for (party, parameters, error) in cases {
                let silent = parameters.merging(["prompt": "none"]) { $1 }
                let answer = try await party.authorize(silent, cookie: cookie)
                #expect(answer.returned("error") == error, "\(party.client) \(parameters)")
                #expect((answer.returned("code") == nil) == (error != nil), "\(party.client) \(parameters)")
                let namesLevel = answer.returned("error_description")?.contains(" acr ") == true
                #expect(namesLevel == (error == "unmet_authentication_requirements"), "\(answer.headers)")
            }
            // The token has the time of the authentication, not that of the request.
            let tokens = try await party.redeem(party.code(["max_age": "3600"], cookie: cookie))
            let claims = try DecodedToken(tokens["id_token"].string ?? "").claims
            let age = (claims["iat"].integer ?? 0) - (claims["auth_time"].integer ?? 0)
            #expect((100...3600).contains(age))
        }
    }

    @Test func `a form is answered by a redirect, so that the browser sends its cookies`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let posted = try await party.authorize(cookie: nil, isForm: true)
            let uri = try #require(posted.returned("request_uri"))
            #expect(posted.status == 303 && posted.returned("client_id") == "web")
            let path = "/oauth/authorize?client_id=web&request_uri=\(uri.formEncoded)&scope=none"
            let answer = try await party.api.send(.GET, path, headers: ["cookie": cookie])
            #expect(answer.returned("code") != nil && answer.returned("state") == "s t&", "\(answer.headers)")
            #expect(
                try await party.api.send(.GET, path, headers: ["cookie": cookie]).text.contains("invalid_request_uri"))
        }
    }

    @Test func `a pushed request is used once, by its client and in one browser`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let form = [
                "redirect_uri": party.redirectURI, "response_type": "code", "scope": "openid", "state": "pushed",
                "code_challenge": CodeChallenge.s256(of: RelyingParty.verifier), "code_challenge_method": "S256",
            ]
            let pushed = try await party.post("/oauth/par", form)
            #expect(pushed.status == 201 && pushed["expires_in"] == 60, "\(pushed.text)")
            let uri = try #require(pushed["request_uri"].string)
            func bring(_ client: String, _ cookie: String) async throws -> APIClient.Answer {
                let path = "/oauth/authorize?client_id=\(client)&request_uri=\(uri.formEncoded)&state=smuggled"
                return try await party.api.send(.GET, path, headers: ["cookie": cookie])
            }
            let asked = try await bring("web", "other=1")
            let flow = try #require(asked.headers.first(name: "set-cookie")?.prefix { $0 != ";" })
            #expect(try await bring("web", cookie).text.contains("data-error=\"invalid_request_uri\""))
            #expect(try await bring("spa", String(flow)).text.contains("data-error=\"invalid_request_uri\""))
            let answer = try await bring("web", "\(flow); \(cookie)")
            #expect(answer.returned("code") != nil && answer.returned("state") == "pushed", "\(answer.headers)")
            #expect(try await bring("web", "\(flow); \(cookie)").status == 400)
            for wrong in ["redirect_uri": "https://evil.example", "request_uri": uri, "scope": "nothing"] {
                let answer = try await party.post("/oauth/par", form.merging([wrong.key: wrong.value]) { $1 })
                #expect(answer.status == 400, "\(wrong)")
            }
        }
    }

    @Test func `what the request says leads nowhere else, and stays within its place`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let state = "x\r\nSet-Cookie: a=b\r\n\r\n<script>&code=evil#f"
            let answer = try await party.authorize(["state": state], cookie: cookie)
            #expect(answer.returned("state") == state && answer.headers["set-cookie"].isEmpty)
            let evil = "https://evil.example/"
            let elsewhere = Dictionary(
                uniqueKeysWithValues: ["error", "lang", "logo", "next", "return_to", "logo_uri", "iss"].map {
                    ($0, evil)
                })
            for (parameters, cookie) in [
                (elsewhere, cookie), (elsewhere.merging(["client_id": "nobody"]) { $1 }, "a=b"),
            ] {
                for path in ["/oauth/authorize?", "/oauth/logout?", "/signin/x?"] {
                    let query = RelyingParty.encoded(party.parameters(parameters))
                    let answer = try await party.api.send(.GET, path + query, headers: ["cookie": cookie])
                    #expect(!answer.text.contains("evil.example"), "\(path)")
                    let location = answer.headers.first(name: "location")
                    #expect(location == nil || answer.returned("code") != nil, "\(path): \(location ?? "")")
                    #expect(location?.contains("evil.example") != true, "\(path)")
                }
            }
        }
    }

    @Test func `form_post answers with a page that posts the code`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let answer = try await party.authorize(["response_mode": "form_post", "state": "<x>"], cookie: cookie)
            #expect(answer.status == 200 && answer.text.contains("action=\"\(party.redirectURI)\""))
            #expect(answer.text.contains("name=\"code\"") && answer.text.contains("value=\"&lt;x&gt;\""))
            #expect(answer.headers.first(name: "content-security-policy")?.contains("form-action") == false)
        }
    }

    @Test func `an application without openid has none of this`() async throws {
        try await TestServer.with { server in
            let api = APIClient(server)
            for path in ["/oauth/authorize", "/oauth/userinfo", "/.well-known/openid-configuration"] {
                expectError(try await api.send(.GET, path), 404, "NOT_FOUND")
            }
        }
    }
}
