import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// The sessions of a browser: single sign-on, several accounts, and how long they last.
struct BrowserSessionTests {
    /// Signs a person in by an authorization request, and returns the view at its end.
    private func signIn(
        _ person: Person, _ browser: inout PageBrowser, _ party: RelyingParty, _ others: [String: String] = [:]
    ) async throws -> PageBrowser.View {
        var page = try await browser.begin(party, ["prompt": "select_account"])
        if page.accepts("other") { page = try await browser.submit("other", of: page) }
        let done = try await browser.signIn(person, at: page, others)
        try #require(done.code != nil, "\(done.text)")
        return done
    }

    @Test func `a second account is chosen, and each proof replaces the cookie of both`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            let (ada, ben) = (try await api.register(at: server), try await api.register(at: server))
            var browser = PageBrowser(server)
            _ = try await signIn(ada, &browser, party)
            let first = try #require(browser.cookies["gatehouse-sso-demo"])
            let second = try await signIn(ben, &browser, party)
            #expect(try await party.redeem(second.code ?? "").status == 200)
            #expect(browser.sessions != first)
            let former = "gatehouse-sso-demo=\(first)"
            #expect(
                try await party.authorize(["prompt": "none"], cookie: former).returned("error") == "login_required",
                "a cookie that somebody knew before is nothing")
            #expect(try await browser.begin(party, ["prompt": "none"]).code != nil, "the one that the client used last")
            let page = try await browser.begin(party)
            #expect(page.step == "accounts" && page.text.contains(ada.email) && page.text.contains(ben.email))
            #expect(!page.text.contains(ada.uid) && !page.path.contains(ada.uid))
            for form in page.forms where form.actions == ["choose"] {
                let session = try #require(form.fields["account"])
                let again = try await browser.begin(party)
                let chosen = try await browser.submit("choose", of: again, account: session)
                let tokens = try await party.redeem(chosen.code ?? "")
                let subject = try DecodedToken(tokens["id_token"].string ?? "").claims["sub"].string
                let owner = try await server.text(
                    "SELECT uid::text FROM sessions WHERE id = $1", [.uuid(UUID(uuidString: session))])
                #expect(subject == owner && [ada.uid, ben.uid].contains(subject), "\(tokens.text)")
            }
        }
    }

    @Test func `the same person again keeps the session, and so do its clients`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let first = try await party.redeem(signIn(ada, &browser, party).code ?? "")
            try await server.age("sessions", "authenticated_at", by: "2 hours", where: "kind <> 'api'")
            let page = try await browser.begin(party, ["max_age": "60"])
            #expect(page.step == "reauthenticate" && page.forms.first?.fields["identifier"] == ada.email)
            let wrong = try await browser.submit("password", ["password": "wrong horse"], of: page)
            #expect(wrong.status == 400 && wrong.step == "reauthenticate" && wrong.problem == "INVALID_CREDENTIALS")
            let done = try await browser.submit(
                "password", ["identifier": "other@example.com", "password": ada.password], of: wrong)
            let second = try await party.redeem(done.code ?? "")
            let claims = try [first, second].map { try DecodedToken($0["id_token"].string ?? "").claims }
            #expect(
                claims[0]["sid"] == claims[1]["sid"] && claims[1]["sub"].string == ada.uid, "the typed one is ignored")
            let times = claims.compactMap { $0["auth_time"].integer }
            #expect(times.count == 2 && times[1] >= times[0])
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
            #expect(try await browser.begin(party, ["prompt": "login"]).step == "reauthenticate")
        }
    }

    @Test func `a proof of one account proves no other that is chosen afterwards`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty.public(server), APIClient(server))
            let (ada, ben, eve) = (
                try await api.register(at: server), try await api.register(at: server),
                try await api.register(at: server)
            )
            var browser = PageBrowser(server)
            for person in [ada, ben] { _ = try await signIn(person, &browser, RelyingParty(server)) }
            let page = try await browser.begin(party, ["prompt": "login"])
            let other = try await browser.submit("other", of: page)
            let consent = try await browser.signIn(eve, at: other)
            #expect(consent.step == "consent" && consent.text.contains(eve.email))
            // The proven session ends elsewhere, so that the person is asked which account to go on with.
            try await server.execute(
                "UPDATE sessions SET ended_at = now(), end_reason = 'revoked' WHERE kind = 'browser' AND uid = $1",
                [.uuid(UUID(uuidString: eve.uid))])
            let accounts = try await browser.open(consent.path)
            #expect(accounts.step == "accounts")
            let chosen = try await browser.submit("choose", of: accounts)
            #expect(chosen.step == "reauthenticate" && chosen.code == nil, "\(chosen.text)")
        }
    }

    @Test func `a session is kept as the person asks`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            for isRemembered in [false, true] {
                var browser = PageBrowser(server)
                let page = try await browser.begin(party)
                let done = try await browser.signIn(ada, at: page, isRemembered ? ["remember": "1"] : [:])
                let cookie = try #require(
                    done.answer.headers["set-cookie"].first { $0.hasPrefix("gatehouse-sso-demo=") })
                #expect(cookie.contains("; Path=/; HttpOnly; SameSite=Lax") && !cookie.contains("Domain"))
                #expect(cookie.contains("Max-Age=2592000") == isRemembered)
                try await server.age("sessions", "last_used_at", by: "13 hours", where: "kind = 'browser'")
                let silent = try await browser.begin(party, ["prompt": "none"])
                #expect(
                    (silent.code != nil) == isRemembered
                        && silent.returnedError == (isRemembered ? nil : "login_required"))
                guard !isRemembered else { continue }
                let again = try await browser.begin(party)
                #expect(again.step == "signin", "one expired account is no choice")
            }
        }
    }

    @Test func `an expired account is shown as signed out, and can be forgotten`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            let (ada, ben) = (try await api.register(at: server), try await api.register(at: server))
            var browser = PageBrowser(server)
            _ = try await signIn(ada, &browser, party)
            try await server.age("sessions", "last_used_at", by: "13 hours", where: "kind = 'browser'")
            _ = try await signIn(ben, &browser, party)
            let page = try await browser.begin(party, ["prompt": "select_account"])
            #expect(page.step == "accounts" && page.text.contains("Signed out") && page.accepts("forget"))
            let id = try #require(page.forms.first { $0.actions.contains("forget") }?.fields["account"])
            let known = try await browser.submit("choose", of: page, account: id)
            #expect(known.step == "signin" && known.forms.first?.fields["identifier"] == ada.email)
            let back = try await browser.submit("back", of: known)
            let live = try #require(back.forms.first { $0.actions == ["choose"] }?.fields["account"])
            let stolen = try await browser.send(
                .POST, back.path,
                form: (back.forms.first?.fields ?? [:]).merging(["action": "forget", "account": live]) { $1 })
            #expect(stolen.accepts("choose"), "a live account is not forgotten, but signed out")
            let rest = try await browser.submit("forget", of: stolen, account: id)
            #expect(!rest.text.contains(ada.email) && rest.text.contains(ben.email))
        }
    }

    @Test func `an account without a name and an address is called after its provider`() async throws {
        let providers = "scripted: { displayName: Campus }"
        try await TestServer.with(application: RelyingParty.configuration, providers: providers) { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            var browser = PageBrowser(server)
            for number in 1...2 {
                let evidence = VerifiedIdentity.somebody()
                #expect(try await api.present(evidence).status == 200)
                var page = try await browser.begin(party, ["prompt": "select_account"])
                if page.accepts("other") { page = try await browser.submit("other", of: page) }
                let done = try await browser.present(evidence, at: page)
                try #require(done.code != nil, "\(done.text)")
                guard number == 1 else { continue }
                let account = try await browser.open("/account")
                #expect(account.text.contains("<p class=\"who\"><strong>Campus</strong></p>"), "\(account.text)")
                let again = try await browser.begin(party, ["prompt": "login"])
                #expect(again.step == "reauthenticate" && again.forms.first?.fields["identifier"] == "Campus")
            }
            let page = try await browser.begin(party, ["prompt": "select_account"])
            let chosen = page.text.matches(of: /value="choose" class="account"><strong>([^<]*)</).map(\.output.1)
            #expect(chosen == ["Campus", "Campus"], "\(page.text)")
            let signOut = try await browser.open("/oauth/logout")
            let ended = signOut.text.matches(of: /<label for="a[^"]*"><strong>([^<]*)</).map(\.output.1)
            #expect(ended == ["Campus", "Campus"], "\(signOut.text)")
        }
    }

    @Test func `a sixth account ends the one that was not used for the longest time`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            var browser = PageBrowser(server)
            var people: [Person] = []
            for number in 0..<6 {
                people.append(try await api.register(at: server))
                _ = try await signIn(people[number], &browser, party)
                try await server.age("sessions", "last_used_at", by: "1 minute", where: "kind = 'browser'")
            }
            let page = try await browser.begin(party, ["prompt": "select_account"])
            #expect(!page.text.contains(people[0].email))
            for person in people.dropFirst() { #expect(page.text.contains(person.email)) }
            #expect(
                try await server.count(
                    "SELECT count(*) FROM sessions WHERE kind = 'browser' AND end_reason = 'signedOut'")
                    == 1)
        }
    }
}
