import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0).
struct LogoutTests {
    @Test func `a valid hint signs out at once, and leads to a registered URI`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let bye = "https://photos.example/bye"
            for (parameters, location) in [
                (["post_logout_redirect_uri": bye, "state": "a b&"], "\(bye)?state=a%20b%26"),
                (["post_logout_redirect_uri": bye, "client_id": "web"], bye),
                (["post_logout_redirect_uri": bye + "?from=app", "state": "s"], bye + "?from=app&state=s"),
                (["state": "s"], nil), ([:], nil),
            ] {
                let (cookie, tokens) = try await party.signedIn()
                let hint = ["id_token_hint": tokens["id_token"].string ?? ""]
                let answer = try await party.logout(parameters.merging(hint) { $1 }, cookie: cookie)
                #expect(answer.status == (location == nil ? 200 : 303), "\(parameters) \(answer.text)")
                #expect(answer.headers.first(name: "location") == location)
                #expect(try await !party.isActive(tokens["access_token"].string ?? ""))
                let again = try await party.authorize(["prompt": "none"], cookie: cookie)
                #expect(again.returned("error") == "login_required")
            }
        }
    }

    @Test func `a faulty request ends nothing and leads nowhere`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (cookie, tokens) = try await party.signedIn()
            let (hint, access) = (tokens["id_token"].string ?? "", tokens["access_token"].string ?? "")
            let bye = "https://photos.example/bye"
            for (parameters, fault) in [
                (["id_token_hint": hint, "post_logout_redirect_uri": bye + "/"], "logout_uri"),
                (["id_token_hint": hint, "post_logout_redirect_uri": bye + "?foo=bar"], "logout_uri"),
                (["id_token_hint": hint, "post_logout_redirect_uri": RelyingParty.redirectURI], "logout_uri"),
                (["id_token_hint": hint, "client_id": "loose"], "logout_hint"),
                (["id_token_hint": String(hint.dropLast(8)) + "AAAAAAAA"], "logout_hint"),
                (["id_token_hint": access, "post_logout_redirect_uri": bye], "logout_hint"),
                (["id_token_hint": "x"], "logout_hint"),
                (["id_token_hint": hint, "state": String(repeating: "s", count: 2049)], "invalid_request"),
            ] {
                let answer = try await party.logout(parameters, cookie: cookie)
                #expect(answer.status == 400 && answer.headers.first(name: "location") == nil, "\(parameters)")
                #expect(answer.text.contains("data-error=\"\(fault)\""), "\(parameters) \(answer.text)")
            }
            let doubled = try await party.api.send(
                .GET, "/oauth/logout?id_token_hint=\(hint)&id_token_hint=\(hint)", headers: ["cookie": cookie])
            #expect(doubled.status == 400)
            #expect(try await party.isActive(tokens["access_token"].string ?? ""))
        }
    }

    @Test func `without a hint of somebody who is signed in here, a page asks`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (cookie, tokens) = try await party.signedIn()
            let (stranger, _) = try await party.signedIn()
            let hint = tokens["id_token"].string ?? ""
            let unregistered = "https://evil.example/"
            for (parameters, cookie) in [
                ([:], cookie), (["post_logout_redirect_uri": unregistered, "state": "s"], cookie),
                (["id_token_hint": hint], stranger), (["id_token_hint": hint], nil),
                (["id_token_hint": hint, "post_logout_redirect_uri": "https://photos.example/bye"], stranger),
            ] {
                let answer = try await party.logout(parameters, cookie: cookie)
                #expect(answer.status == 200 && answer.headers.first(name: "location") == nil, "\(parameters)")
                #expect(!answer.text.contains("evil.example"))
            }
            #expect(try await party.isActive(tokens["access_token"].string ?? ""))
            // The key of the hint is no longer known, but what it names is.
            let foreign = try await server.hint(naming: ["iss": "https://evil.example"], like: hint)
            try await server.forgetIdentityKeys()
            #expect(try await party.logout(["id_token_hint": hint, "client_id": "web"], cookie: cookie).status == 200)
            for parameters in [["id_token_hint": hint, "client_id": "loose"], ["id_token_hint": foreign]] {
                let answer = try await party.logout(parameters, cookie: cookie)
                #expect(answer.status == 400 && answer.text.contains("data-error=\"logout_hint\""), "\(parameters)")
            }
            #expect(try await party.isActive(tokens["access_token"].string ?? ""))
        }
    }

    @Test func `a form of another site is asked for again, without its ID token in the URL`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (cookie, tokens) = try await party.signedIn()
            let (hint, access) = (tokens["id_token"].string ?? "", tokens["access_token"].string ?? "")
            let bye = "https://photos.example/bye"
            func post(_ form: [String: String]) async throws -> APIClient.Answer {
                try await party.post("/oauth/logout", form, isAuthenticated: false)
            }
            let posted = try await post(
                ["id_token_hint": hint, "post_logout_redirect_uri": bye, "state": "a b&", "client_id": "web"])
            let location = try #require(posted.headers.first(name: "location"), "\(posted.text)")
            #expect(posted.status == 303 && location.hasPrefix("\(PageBrowser.issuer)/oauth/logout?"))
            #expect(!location.contains(hint) && !location.contains("hint"), "\(location)")
            let line = try #require(posted.headers.first(name: "set-cookie"))
            #expect(line == "gatehouse-logout-demo=\(hint); Path=/; HttpOnly; SameSite=Lax; Max-Age=60", "\(line)")
            #expect(try await party.isActive(access))

            let path = String(location.dropFirst(PageBrowser.issuer.count))
            let carried = "gatehouse-logout-demo=\(hint); \(cookie)"
            let done = try await party.api.send(.GET, path, headers: ["cookie": carried])
            #expect(done.status == 303 && done.headers.first(name: "location") == "\(bye)?state=a%20b%26")
            #expect(done.headers.first(name: "set-cookie")?.hasPrefix("gatehouse-logout-demo=; ") == true)
            #expect(try await !party.isActive(access))
            #expect(try await party.api.send(.GET, path).text.contains("data-step=\"signout\""), "without the cookie")

            for (form, fault) in [
                (["id_token_hint": "a; Path=/\r\nX: y"], "logout_hint"),
                (["state": String(repeating: "s", count: 2049)], "invalid_request"),
            ] {
                let answer = try await post(form)
                #expect(answer.status == 400 && answer.text.contains("data-error=\"\(fault)\""), "\(form)")
                #expect(answer.headers.first(name: "set-cookie") == nil)
            }
        }
    }

    @Test func `the page signs out by its own form only, one account or all`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            for all in [false, true] {
                let (cookie, tokens) = try await party.signedIn()
                let access = tokens["access_token"].string ?? ""
                let page = try await party.logout(cookie: cookie)
                #expect(page.text.contains("data-step=\"signout\""))
                let flow = try #require(page.headers.first(name: "set-cookie")?.prefix { $0 != ";" })
                let token = try #require(page.text.firstMatch(of: /name="csrf" value="([^"]+)"/)?.output.1)
                func post(
                    _ fields: [String: String], cookie: String, headers: HTTPHeaders = [:]
                ) async throws -> APIClient.Answer {
                    var headers = headers
                    headers.add(name: "cookie", value: cookie)
                    return try await party.post(
                        "/oauth/logout", ["action": "signout"].merging(fields) { $1 }, isAuthenticated: false,
                        headers: headers)
                }
                let ours = "\(cookie); \(flow)"
                for (fields, cookie, headers) in [
                    ([:], ours, [:]), (["csrf": "x.y"], ours, [:]), (["csrf": String(token)], cookie, [:]),
                    (
                        ["csrf": String(token)],
                        "\(cookie); gatehouse-browser-demo=\(String(repeating: "A", count: 43))", [:]
                    ),
                    (["csrf": String(token)], ours, ["sec-fetch-site": "cross-site"]),
                    (["csrf": String(token)], ours, ["origin": "https://evil.example"]),
                ] as [([String: String], String, HTTPHeaders)] {
                    let answer = try await post(fields, cookie: cookie, headers: headers)
                    #expect(answer.status == 403 && answer.text.contains("data-error=\"csrf\""), "\(fields)")
                }
                #expect(try await party.isActive(access))
                let fields = all ? ["csrf": String(token), "all": "1"] : ["csrf": String(token)]
                let done = try await post(fields, cookie: ours)
                #expect(done.status == 200 && done.text.contains("data-step=\"signed-out\""))
                #expect(try await !party.isActive(access))
            }
        }
    }

    @Test func `a hint ends the account's session only, and the subject alone is enough`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty.public(server)
            let person = try await party.api.register(at: server)
            try await party.consent(of: person)
            let before = try await party.browser(of: person)
            let hint = try await party.redeem(party.code(cookie: before))["id_token"].string ?? ""
            let (cookie, other) = (try await party.browser(of: person), try await RelyingParty(server).signedIn())
            // The session of the hint was another browser's; the account is the same.
            let answer = try await party.logout(["id_token_hint": hint], cookie: cookie)
            #expect(answer.status == 200)
            #expect(try await party.authorize(["prompt": "none"], cookie: cookie).returned("error") == "login_required")
            #expect(try await party.authorize(["prompt": "none"], cookie: before).returned("code") != nil)
            #expect(try await RelyingParty(server).isActive(other.tokens["access_token"].string ?? ""))
        }
    }

    @Test func `an account is known by the hints of those that were merged into it`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            var (people, hints): ([Person], [String]) = ([], [])
            for _ in 0..<3 {
                let person = try await party.api.register(at: server)
                people.append(person)
                let tokens = try await party.redeem(party.code(cookie: party.browser(of: person)))
                hints.append(try #require(tokens["id_token"].string))
            }
            for (absorbed, survivor) in zip(people.dropFirst(), people) {
                try await server.execute(
                    "UPDATE accounts SET absorbed_by = $2 WHERE uid = $1",
                    [.uuid(UUID(uuidString: absorbed.uid)), .uuid(UUID(uuidString: survivor.uid))])
            }
            let bye = "https://photos.example/bye"
            for hint in hints {
                let cookie = try await party.browser(of: people[0])
                let parameters = ["id_token_hint": hint, "post_logout_redirect_uri": bye]
                let stranger = try await party.logout(parameters, cookie: party.signedIn().cookie)
                #expect(stranger.status == 200 && stranger.text.contains("data-step=\"signout\""))
                let answer = try await party.logout(parameters, cookie: cookie)
                #expect(answer.status == 303 && answer.headers.first(name: "location") == bye, "\(answer.text)")
                let again = try await party.authorize(["prompt": "none"], cookie: cookie)
                #expect(again.returned("error") == "login_required")
            }
        }
    }

    @Test func `twenty sign-outs at once end one session once`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (cookie, tokens) = try await party.signedIn()
            let hint = tokens["id_token"].string ?? ""
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await party.logout(
                            ["id_token_hint": hint, "post_logout_redirect_uri": "https://photos.example/bye"],
                            cookie: cookie
                        ).status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.contains(303) && Set(statuses).isSubset(of: [200, 303]))
            let ended = try await server.text(
                """
                SELECT string_agg(details->>'kind', ' ' ORDER BY details->>'kind') FROM audit_events
                 WHERE event = 'session.ended'
                """)
            #expect(ended == "browser client")
        }
    }
}

extension RelyingParty {
    /// A new person's browser, and the tokens that the client has got from it.
    func signedIn(scope: String = "openid") async throws -> (cookie: String, tokens: APIClient.Answer) {
        let cookie = try await browser(of: api.register(at: server))
        let tokens = try await redeem(code(["scope": scope], cookie: cookie))
        try #require(tokens.status == 200, "\(tokens.text)")
        return (cookie, tokens)
    }
}
