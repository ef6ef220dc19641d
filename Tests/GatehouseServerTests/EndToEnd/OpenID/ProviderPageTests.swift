import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Signing in at providers' pages from the pages of an authorization request.
struct ProviderPageTests {
    private func with(
        _ providers: String = "scripted: { displayName: \"<b>Other</b>\" }",
        _ body: @Sendable @escaping (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with(application: RelyingParty.configuration, providers: providers, body)
    }

    /// Finishes a request, and returns the claims of its ID token.
    private func finished(_ view: PageBrowser.View, _ party: RelyingParty) async throws -> JSONValue {
        let code = try #require(view.code, "\(view.status) \(view.text)")
        let tokens = try await party.redeem(code)
        return try DecodedToken(tokens["id_token"].string ?? "").claims
    }

    private func identities(of person: Person, at server: TestServer) async throws -> [String] {
        let list = try await APIClient(server).get("/auth/identities", bearer: person.accessToken)
        return list["identities"].array?.compactMap { $0["provider"].string } ?? []
    }

    @Test func `a new identity opens an account when the person says so, and signs in to it then`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            #expect(page.text.contains("Continue with &lt;b&gt;Other&lt;/b&gt;</a>"), "\(page.text)")
            let away = try await browser.follow("scripted", of: page)
            #expect(away.status == 303 && away.target?.hasPrefix(ScriptedProvider.page) == true)
            let asked = try await browser.comeBack(from: away, ["code": evidence.proof])
            #expect(asked.status == 200 && asked.step == "new-or-link" && asked.path == page.path, "\(asked.text)")
            #expect(asked.text.contains("&lt;b&gt;Other&lt;/b&gt; has confirmed"))
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0, "nothing is opened yet")
            #expect(try await browser.open(page.path).step == "new-or-link")
            let welcome = try await browser.submit("create", of: asked)
            #expect(welcome.step == "welcome", "\(welcome.status) \(welcome.text)")
            let first = try await finished(browser.submit("skip", of: welcome), party)
            #expect(first["amr"] == ["fed"])
            var other = PageBrowser(server)
            let second = try await finished(other.present(evidence, at: other.begin(party)), party)
            #expect(second["sub"] == first["sub"] && second["sub"].string != nil)
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
        }
    }

    @Test func `an identity whose address an account owns joins it without a question`() async throws {
        try await with { server in
            let party = RelyingParty(server)
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let done = try await browser.present(.somebody(email: person.email), at: browser.begin(party))
            #expect(try await finished(done, party)["sub"].string == person.uid)
            #expect(try await identities(of: person, at: server).sorted() == ["email", "scripted"])
        }
    }

    @Test func `a provider without auth_time is named when the person proves again who they are`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            var browser = PageBrowser(server)
            let asked = try await browser.present(evidence, at: browser.begin(party))
            let welcome = try await browser.submit("create", of: asked)
            _ = try await finished(browser.submit("skip", of: welcome), party)
            let again = try await browser.begin(party, ["prompt": "login"])
            #expect(again.step == "reauthenticate", "\(again.text)")
            let refused = try await browser.present(evidence, at: again)
            #expect(refused.step == "reauthenticate" && refused.problem == "INVALID_TOKEN", "\(refused.text)")
            #expect(refused.text.contains("&lt;b&gt;Other&lt;/b&gt; does not say when you signed in there."))
        }
    }

    @Test func `a new identity joins the account that the person signs in to`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let asked = try await browser.present(evidence, at: browser.begin(party))
            let signIn = try await browser.submit("link", of: asked)
            #expect(signIn.step == "signin" && signIn.text.contains("to sign in to it, too"), "\(signIn.text)")
            let wrong = try await browser.submit(
                "password", ["identifier": person.email, "password": "wrong horse"], of: signIn)
            #expect(wrong.problem == "INVALID_CREDENTIALS")
            let done = try await browser.signIn(person, at: wrong)
            #expect(try await finished(done, party)["sub"].string == person.uid)
            #expect(try await identities(of: person, at: server).sorted() == ["email", "scripted"])
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
            var other = PageBrowser(server)
            let again = try await other.present(evidence, at: other.begin(party))
            #expect(try await finished(again, party)["sub"].string == person.uid)
        }
    }

    @Test func `an identity that another account got meanwhile does not join`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let signIn = try await browser.submit("link", of: browser.present(evidence, at: browser.begin(party)))
            #expect(try await APIClient(server).present(evidence).status == 200)
            let conflict = try await browser.signIn(person, at: signIn)
            #expect(conflict.code == nil && browser.sessions != nil, "\(conflict.text)")
            #expect(try await identities(of: person, at: server) == ["email"])
        }
    }

    @Test(arguments: [
        (["error": "access_denied"], "access_denied"), (["error": "user_cancelled_authorize"], "access_denied"),
        (["code": "refused"], "access_denied"), (["error": "temporarily_unavailable"], "PROVIDER_UNAVAILABLE"),
        (["code": "unavailable"], "PROVIDER_UNAVAILABLE"), (["code": "malformed"], "PROVIDER_UNAVAILABLE"),
    ])
    func `what a provider refuses is shown at the step`(_ answer: [String: String], _ problem: String) async throws {
        try await with { server in
            let party = RelyingParty(server)
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let away = try await browser.follow("scripted", of: browser.begin(party))
            let refused = try await browser.comeBack(
                from: away, answer.merging(["error_description": "<i>text</i>"]) { $1 })
            #expect(refused.step == "signin" && refused.problem == problem, "\(refused.text)")
            #expect(!refused.text.contains("text</i>") && !refused.path.contains("?"))
            #expect(try await browser.open(refused.path).problem == problem, "it stays on the page")
            #expect(try await browser.signIn(person, at: refused).code != nil)
        }
    }

    @Test func `modes decide what a provider may do`() async throws {
        let providers = """
            scripted: { mode: existing }
            linked: { kind: scripted, mode: linkOnly }
            gone: { kind: scripted, mode: off }
            """
        try await with(providers) { server in
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            #expect(page.link("with-scripted") != nil && page.link("with-linked") == nil)
            #expect(page.link("with-gone") == nil && page.link("with-email") == nil)
            let refused = try await browser.present(.somebody(), at: page)
            #expect(refused.step == "signin" && refused.problem == "PROVIDER_DISABLED", "\(refused.text)")
            for (name, problem) in [
                "linked": "PROVIDER_DISABLED", "gone": "PROVIDER_DISABLED", "email": "UNSUPPORTED_PROVIDER",
                "nothing": "UNSUPPORTED_PROVIDER",
            ] {
                let answer = try await browser.open("\(page.path)/with/\(name)")
                #expect(answer.status == 400 && answer.problem == problem, "\(name): \(answer.text)")
            }
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
        }
    }

    @Test func `a decision that comes too late begins again`() async throws {
        try await with { server in
            var browser = PageBrowser(server)
            let asked = try await browser.present(.somebody(), at: browser.begin(RelyingParty(server)))
            try await server.age("redirect_flows", "expires_at", by: "11 minutes")
            let late = try await browser.submit("create", of: asked)
            #expect(late.status == 400 && late.step == "signin" && late.problem == "INVALID_TOKEN", "\(late.text)")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
        }
    }

    @Test func `a refusal that the person can answer leads to its page`() async throws {
        try await with { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            let (person, _) = try await api.victim(at: server, of: "intruder")
            #expect(try await api.resetPassword(of: person.email, at: server).status == 204)
            var browser = PageBrowser(server)
            let asked = try await browser.present(.somebody("intruder"), at: browser.begin(party))
            #expect(asked.step == "second-proof" && asked.problem == "SECOND_PROOF_REQUIRED", "\(asked.text)")
            #expect(asked.link("with-scripted") == nil, "the quarantined identity itself is no other way")
            #expect(try await browser.open(asked.path).step == "second-proof")
            let done = try await browser.submit(
                "password", ["identifier": person.email, "password": APIClient.otherPassword], of: asked)
            #expect(try await finished(done, party)["sub"].string == person.uid)
            var again = PageBrowser(server)
            let confirmed = try await again.present(.somebody("intruder"), at: again.begin(party))
            #expect(confirmed.code != nil, "the ticket has confirmed the identity: \(confirmed.text)")

            let evidence = VerifiedIdentity.somebody()
            let bearer = try await api.present(evidence)["accessToken"].string
            #expect(try await api.send(.DELETE, "/api/v1/auth/account", bearer: bearer).status == 204)
            var other = PageBrowser(server)
            let deleted = try await other.present(evidence, at: other.begin(party))
            #expect(deleted.step == "restore", "\(deleted.status) \(deleted.text)")
            #expect(try await other.submit("restore", of: deleted).code != nil)
        }
    }

    @Test func `a client may name the provider`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            #expect(try await APIClient(server).present(evidence).status == 200)
            var browser = PageBrowser(server)
            let away = try await browser.begin(party, ["provider": "scripted"])
            #expect(away.target?.hasPrefix(ScriptedProvider.page) == true, "\(away.status) \(away.text)")
            #expect(try await browser.comeBack(from: away, ["code": evidence.proof]).code != nil)
            let signUp = try await browser.begin(party, ["provider": "scripted", "prompt": "create"])
            #expect(signUp.target?.hasPrefix(ScriptedProvider.page) == true, "\(signUp.status) \(signUp.text)")
            #expect(try await browser.comeBack(from: signUp, ["code": evidence.proof]).code != nil)
            let silent = try await browser.begin(party, ["provider": "scripted"])
            #expect(silent.code != nil, "nobody needs to sign in")
            for (prompt, step) in [("select_account", "accounts"), ("login", "reauthenticate")] {
                #expect(try await browser.begin(party, ["provider": "scripted", "prompt": prompt]).step == step)
            }
            for name in ["email", "nothing", "scripted/../email"] {
                var other = PageBrowser(server)
                #expect(try await other.begin(party, ["provider": name]).step == "signin")
            }
        }
    }

    @Test func `to authenticate again, the account's own providers ask for the password again`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            let uid = try await APIClient(server).present(evidence)["user"]["id"].string
            var browser = PageBrowser(server)
            #expect(try await browser.present(evidence, at: browser.begin(party)).code != nil)
            let page = try await browser.begin(party, ["prompt": "login"])
            #expect(page.step == "reauthenticate", "\(page.text)")
            let away = try await browser.follow("scripted", of: page)
            #expect(away.target?.contains("prompt=login") == true)
            let foreign = try await browser.comeBack(
                from: away, ["code": VerifiedIdentity.somebody().proof, "time": "begin"])
            #expect(foreign.step == "reauthenticate" && foreign.problem == "INVALID_CREDENTIALS", "\(foreign.text)")
            let stale = try await browser.comeBack(
                from: browser.follow("scripted", of: foreign), ["code": evidence.proof])
            #expect(stale.problem == "INVALID_TOKEN", "the provider does not say when: \(stale.text)")
            let done = try await browser.comeBack(
                from: browser.follow("scripted", of: stale), ["code": evidence.proof, "time": "begin"])
            let claims = try await finished(done, party)
            #expect(claims["sub"].string == uid)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)

            let person = try await APIClient(server).register(at: server)
            var other = PageBrowser(server)
            #expect(try await other.signIn(person, at: other.begin(party)).code != nil)
            #expect(try await other.begin(party, ["prompt": "login"]).link("with-scripted") == nil)
        }
    }

    @Test func `who proves another account goes on with that one, unless the client requires the former`() async throws
    {
        try await with { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            let (ada, ben) = (VerifiedIdentity.somebody(), VerifiedIdentity.somebody())
            let (uid, other) = (try await api.present(ada)["user"]["id"], try await api.present(ben)["user"]["id"])
            func prove(
                _ evidence: VerifiedIdentity, asking parameters: [String: String], in browser: inout PageBrowser
            ) async throws -> PageBrowser.View {
                let page = try await browser.begin(party, parameters)
                try #require(page.step == "reauthenticate", "\(page.text)")
                return try await browser.comeBack(
                    from: browser.follow("scripted", of: page), ["code": evidence.proof, "time": "begin"])
            }
            var browser = PageBrowser(server)
            #expect(try await browser.present(ada, at: browser.begin(party)).code != nil)
            let claims = #"{"id_token":{"sub":{"value":"\#(uid.string ?? "")"}}}"#
            let refused = try await prove(ben, asking: ["prompt": "login", "claims": claims], in: &browser)
            #expect(refused.returnedError == "access_denied" && refused.code == nil, "\(refused.text)")
            let same = try await browser.begin(party, ["prompt": "none", "claims": claims])
            #expect(same.code != nil, "the former session goes on: \(same.target ?? "")")
            var second = PageBrowser(server)
            #expect(try await second.present(ada, at: second.begin(party)).code != nil)
            let done = try await prove(ben, asking: ["prompt": "login"], in: &second)
            #expect(try await finished(done, party)["sub"] == other)
            #expect(try await server.count("SELECT count(*) FROM accounts") == 2)
            #expect(try await server.count("SELECT count(*) FROM identities") == 2)
        }
    }

    @Test func `a gateway's header signs in, as long as the request has it`() async throws {
        let providers =
            "carrier: { kind: mobile-network, gateways: [127.0.0.1], header: X-MSISDN }"
            + "\nelsewhere: { kind: mobile-network, gateways: [10.1.0.0/16], header: X-MSISDN }"
        try await with(providers) { server in
            let party = RelyingParty(server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            #expect(page.link("with-carrier") == nil, "\(page.text)")
            #expect(try await browser.open("\(page.path)/with/carrier").problem == "UNSUPPORTED_PROVIDER")
            browser.headers.add(name: "x-msisdn", value: "33612345678")
            let known = try await browser.open(page.path)
            #expect(known.link("with-carrier") != nil && known.link("with-elsewhere") == nil, "\(known.text)")
            let asked = try await browser.follow("carrier", of: known)
            #expect(asked.step == "new-or-link", "\(asked.text)")
            browser.headers.remove(name: "x-msisdn")
            let gone = try await browser.submit("create", of: asked)
            #expect(gone.step == "signin" && gone.problem == "INVALID_TOKEN", "\(gone.text)")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
            browser.headers.add(name: "x-msisdn", value: "33612345678")
            let again = try await browser.follow("carrier", of: browser.open(page.path))
            let welcome = try await browser.submit("create", of: again)
            let claims = try await finished(browser.submit("skip", of: welcome), party)
            #expect(claims["amr"] == ["mno"])
            var other = PageBrowser(server)
            other.headers.add(name: "x-msisdn", value: "33612345678")
            let second = try await finished(other.follow("carrier", of: other.begin(party)), party)
            #expect(second["sub"] == claims["sub"])
        }
    }
}
