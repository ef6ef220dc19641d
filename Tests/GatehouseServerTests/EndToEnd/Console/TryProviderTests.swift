import Accounts
import Administration
import Foundation
import GatehouseTesting
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// Trying a provider from the console, with an account of the administrator's own there.
struct TryProviderTests {
    private static let page = "/console/demo/providers/scripted/try"

    /// The way to a provider's pages.
    private struct Trial {
        let url: URLComponents
        var state: String { url.query("state") ?? "" }

        /// The path of the callback with these parameters.
        func callback(_ parameters: [String: String]) throws -> String {
            let callback = try #require(url.query("callback") ?? url.query("redirect_uri"))
            let all = ["state": state].merging(parameters) { $1 }
            return callback + "?" + all.map { "\($0.key)=\($0.value.formEncoded)" }.joined(separator: "&")
        }
    }

    private func begin(_ browser: ConsoleBrowser, at page: String = Self.page) async throws -> Trial {
        let view = try await browser.submit(page)
        let link = try #require(view.links.first { $0.text.hasPrefix("Go to ") }, "\(view.status) \(view.text)")
        #expect(view.status == 200 && view.text.contains("rel=\"noreferrer\""))
        return Trial(url: try #require(URLComponents(string: link.target)))
    }

    /// Comes back from the provider, and returns where the result is.
    private func comeBack(
        _ browser: ConsoleBrowser, from trial: Trial, _ parameters: [String: String]
    ) async throws -> String {
        let answer = try await browser.open(trial.callback(parameters), following: false)
        #expect(answer.status == 303, "\(answer.status) \(answer.text)")
        return try #require(answer.location)
    }

    private func rows(_ server: TestServer) async throws -> [Int] {
        [
            try await server.count("SELECT count(*) FROM accounts"),
            try await server.count("SELECT count(*) FROM identities"),
            try await server.count("SELECT count(*) FROM sessions"),
            try await server.count("SELECT count(*) FROM addresses"),
            try await server.count("SELECT count(*) FROM provider_tokens"),
            try await server.count("SELECT count(*) FROM token_revocations"),
        ]
    }

    private func flows(_ server: TestServer) async throws -> Int {
        try await server.count("SELECT count(*) FROM redirect_flows")
    }

    // MARK: - What it shows

    @Test func `a trial shows evidence and verdict once, and leaves nothing behind`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let token = "trial-" + UUID().uuidString
            var evidence = VerifiedIdentity.somebody("ada", email: "ada@example.com").holding(token)
            evidence.profile = ["department": "<b>Engines</b>", "updated_at": "2026-05-03T08:00:00Z", "level": 1842]
            let (before, counted) = (try await rows(server), try await server.counted())
            let events = try await server.audited {
                let trial = try await begin(browser)
                let place = try await comeBack(browser, from: trial, ["code": evidence.proof])
                #expect(place.hasPrefix(PageBrowser.issuer + Self.page + "?code="), "\(place)")
                let sealed: StaticString = """
                    SELECT count(*) FROM redirect_flows
                     WHERE position('ada@example.com'::bytea in sealed_evidence) = 0 AND marks = '{}'
                    """
                #expect(try await server.count(sealed) == 1)
                let view = try await browser.open(place)
                #expect(view.status == 200 && view.title == "Try Scripted", "\(view.text)")
                for shown in [
                    "<code>ada</code>", "ada@example.com", "by Scripted", "department", "&lt;b&gt;Engines&lt;/b&gt;",
                    "2026-05-03T08:00:00Z", "1842", "opens a new account", "address.proven", " ms",
                ] {
                    #expect(view.text.contains(shown), "\(shown): \(view.text)")
                }
                #expect(view.text.contains("were given back") && !view.text.contains(token))
                let again = try await browser.open(place)
                #expect(again.alertCode == "INVALID_STATE" && !again.text.contains("ada@example.com"))
            }
            #expect(ScriptedProvider.revoked.withLock { $0.filter { $0 == token } } == [token])
            #expect(try await rows(server) == before)
            #expect(try await flows(server) == 0)
            let after = try await server.counted()
            for statistic in [Statistic.signIns, .signUps, .links, .providerFailures] {
                #expect(after[statistic] == counted[statistic], "\(statistic)")
            }
            #expect(events.map(\.event) == ["provider.tried", "accounts.searched"])
            #expect(events.first?.details["provider"] == "scripted")
        }
    }

    @Test func `an account that has the address is named only to those who may look at accounts`() async throws {
        try await ConsoleBrowser.with { server, owner in
            let person = try await APIClient(server).register(at: server)
            let evidence = VerifiedIdentity.somebody(email: person.email)
            let operating = try await ConsoleBrowser.signedIn(at: server, role: .operator)
            for (browser, isNamed) in [(owner, true), (operating, false)] {
                let place = try await comeBack(browser, from: begin(browser), ["code": evidence.proof])
                let view = try await browser.open(place)
                #expect(view.text.contains("address.owned"), "\(view.text)")
                #expect(view.text.contains("joins \(person.uid)") == isNamed)
            }
            let support = try await ConsoleBrowser.signedIn(at: server, role: .support)
            #expect(try await support.open(Self.page).status == 403)
        }
    }

    @Test func `a provider that is switched off can be tried, and still signs nobody in`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let (client, key) = (APIClient(server), try await server.serviceKey())
            let switched = try await client.switchProvider(
                "scripted", client.plan("scripted", "off", key), key)
            try #require(switched.status == 200, "\(switched.text)")
            let evidence = VerifiedIdentity.somebody()
            let place = try await comeBack(browser, from: begin(browser), ["code": evidence.proof])
            let view = try await browser.open(place)
            #expect(view.text.contains("if it were open") && view.text.contains("identity.new"), "\(view.text)")
            expectError(try await client.present(evidence, to: "scripted"), 403, "PROVIDER_DISABLED")
            let page = try await browser.open("/console/demo/providers/phone/try")
            #expect(page.status == 200 && page.form("try") == nil, "it has no pages of its own")
            #expect(try await browser.open("/console/demo/providers/nobody/try").status == 404)
        }
    }

    // MARK: - Who sees the result

    @Test func `another session at the console gets nothing, and then nobody does`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let evidence = VerifiedIdentity.somebody("ada", email: "ada@example.com")
            let other = try await browser.secondBrowser()
            let place = try await comeBack(browser, from: begin(browser), ["code": evidence.proof])
            for session in [other, browser] {
                let view = try await session.open(place)
                #expect(view.alertCode == "INVALID_STATE" && !view.text.contains("ada@example.com"))
            }
            #expect(try await flows(server) == 0, "the evidence is dropped")
            // The code belongs to its provider as well.
            let second = try await comeBack(browser, from: begin(browser), ["code": evidence.proof])
            let elsewhere = second.replacing("/scripted/", with: "/phone/")
            #expect(try await browser.open(elsewhere).alertCode == "INVALID_STATE")
        }
    }

    @Test func `another browser, a forged state and a used state are refused before the provider is asked`()
        async throws
    {
        try await ConsoleBrowser.with { server, browser in
            let trial = try await begin(browser)
            let proof = try VerifiedIdentity.somebody().proof
            let stranger = ConsoleBrowser(of: browser.person, at: server)
            for (visitor, parameters) in [
                (stranger, ["code": proof]), (browser, ["code": proof, "state": "forged"]),
                (browser, ["code": proof, "state": String(trial.state.reversed())]),
            ] {
                let answer = try await visitor.open(trial.callback(parameters), following: false)
                #expect((400...404).contains(answer.status) && answer.location == nil, "\(answer.text)")
            }
            let place = try await comeBack(browser, from: trial, ["code": proof])
            #expect(try await browser.open(trial.callback(["code": proof]), following: false).location == nil)
            #expect(try await browser.open(place).text.contains("identity.new"))
            let forged = try await browser.open(Self.page + "?code=forged")
            #expect(forged.alertCode == "INVALID_STATE" && forged.form("try") != nil)
        }
    }

    @Test func `the code of a trial redeems nothing else`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let before = try await rows(server)
            let place = try await comeBack(
                browser, from: begin(browser), ["code": VerifiedIdentity.somebody().proof])
            let code = URLComponents(string: place)?.query("code")
            let client = RedirectClient(api: APIClient(server))
            for uri in ["/console", Self.page, "demo://oauth/callback"] {
                let answer = try await client.redeem(code, state: "x", redirectURI: uri, withoutVerifier: true)
                expectError(answer, 401, "INVALID_TOKEN", uri)
            }
            #expect(try await rows(server) == before)
            #expect(try await browser.open(place).text.contains("identity.new"), "it was not used up")
        }
    }

    // MARK: - Failures

    @Test func `tokens that the service does not take back are not stored`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let token = "stubborn-" + UUID().uuidString
            _ = ScriptedProvider.refused.withLock { $0.insert(token) }
            defer { _ = ScriptedProvider.refused.withLock { $0.remove(token) } }
            let before = try await rows(server)
            let proof = try VerifiedIdentity.somebody().holding(token).proof
            let view = try await browser.open(comeBack(browser, from: begin(browser), ["code": proof]))
            #expect(view.text.contains("did not take its tokens back"), "\(view.text)")
            #expect(try await rows(server) == before)
        }
    }

    @Test func `errors of an issuer are shown with the sentence of their finding`() async throws {
        try await UpstreamServer.with { upstream in
            let issuer = try OpenIDConnectSignInTests.Issuer(upstream)
            try await ConsoleBrowser.with(
                providers: "google: { kind: oidc, issuer: \"\(upstream.url)\", clientID: client, clientSecret: s }"
            ) { server, browser in
                let page = Self.page.replacing("scripted", with: "google")
                func result(_ parameters: [String: String], _ claims: [String: JSONValue] = [:]) async throws
                    -> ConsoleBrowser.View
                {
                    let trial = try await begin(browser, at: page)
                    let nonce: JSONValue = .string(trial.url.query("nonce") ?? "")
                    issuer.claims.withLock { $0 = ["nonce": nonce].merging(claims) { $1 } }
                    return try await browser.open(
                        comeBack(browser, from: trial, ["iss": upstream.url].merging(parameters) { $1 }))
                }
                let good = try await result(["code": "c"], ["email": "ada@example.com", "shoe_size": 42])
                for shown in ["shoe_size", "42", "address.unproven", upstream.url] {
                    #expect(good.text.contains(shown), "every claim by name: \(good.text)")
                }
                for (parameters, claims, finding): ([String: String], [String: JSONValue], ProviderFinding?) in [
                    (["error": "access_denied", "error_description": "No, <i>thanks</i>"], [:], nil),
                    (["error": "redirect_uri_mismatch"], [:], .redirectRefused),
                    (["error": "unauthorized_client"], [:], .clientRefused),
                    (["code": "c"], ["nonce": "another"], .nonceMismatch),
                    (["code": "c"], ["aud": "another"], .audienceMismatch),
                ] {
                    let view = try await result(parameters, claims)
                    #expect(view.alertCode == parameters["error"] ?? "access_denied", "\(view.text)")
                    #expect(!view.text.contains("<i>"))
                    if let finding {
                        #expect(view.text.contains(finding.rawValue))
                    }
                }
                let counts = try await server.counted()[.providerFailures] ?? [:]
                #expect(counts["google/nonce.mismatch"] == 1, "\(counts)")
            }
        }
    }

    @Test func `an issuer that is down is a result at once`() async throws {
        try await UpstreamServer.with { upstream in
            let issuer = try OpenIDConnectSignInTests.Issuer(upstream)
            issuer.upstream.service.condition = .failing
            try await ConsoleBrowser.with(
                providers: "google: { kind: oidc, issuer: \"\(upstream.url)\", clientID: client, clientSecret: s }"
            ) { server, browser in
                let view = try await browser.submit(Self.page.replacing("scripted", with: "google"))
                #expect(view.alertCode == "temporarily_unavailable", "\(view.text)")
                #expect(view.text.contains("upstream.error") && view.form("try") != nil)
                #expect(try await flows(server) == 0)
            }
        }
    }
}
