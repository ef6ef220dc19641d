import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Signing in at the pages of an authorization request, with a password and with a code.
struct SignInPageTests {
    @Test func `a password signs in, and the client gets a code for the account`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, person) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            #expect(page.status == 200 && page.step == "signin" && page.path.hasPrefix("/signin/"))
            let done = try await browser.signIn(person, at: page)
            #expect(done.status == 200 && done.step == "return", "\(done.status) \(done.text)")
            #expect(done.target?.hasPrefix(party.redirectURI + "?code=") == true)
            let tokens = try await party.redeem(done.code ?? "")
            #expect(tokens.status == 200, "\(tokens.text)")
            let claims = try DecodedToken(tokens["id_token"].string ?? "").claims
            #expect(claims["sub"].string == person.uid && claims["amr"] == ["pwd"] && claims["nonce"] == "n")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
            #expect(
                try await server.count(
                    """
                    SELECT count(*) FROM refresh_tokens t JOIN sessions s ON s.application_id = t.application_id
                       AND s.id = t.session_id WHERE s.kind = 'browser'
                    """) == 0, "a browser has no refresh token")
            let silent = try await browser.begin(party, ["prompt": "none"])
            #expect(silent.status == 303 && silent.code != nil, "the browser is signed in")
            #expect(try await browser.begin(.public(server), ["prompt": "none"]).returnedError == "consent_required")
        }
    }

    @Test(arguments: ["signin", "signup"])
    func `a page that an app shows in its own web view warns of it`(step: String) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36"
            let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15"
            for (agent, isWebView) in [
                ("Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) \(chrome)", true), ("\(safari) Mobile/15E148", true),
                ("Mozilla/5.0 (Linux; Android 14; Pixel 8) \(chrome)", false),
                ("\(safari) Version/17.2 Mobile/15E148 Safari/604.1", false),
            ] {
                for (party, isNative) in [(RelyingParty.native(server), true), (RelyingParty(server), false)] {
                    var browser = PageBrowser(server)
                    browser.headers.add(name: "user-agent", value: agent)
                    let page = try await browser.begin(party, step == "signup" ? ["prompt": "create"] : [:])
                    #expect(page.step == step, "\(page.text)")
                    let isWarned = page.text.contains("id=\"web-view\"")
                    #expect(isWarned == (isWebView && isNative), "\(agent) \(party.client)")
                }
            }
        }
    }

    @Test func `a wrong password shows the form again, without the password`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            let wrong = try await browser.submit(
                "password", ["identifier": person.email, "password": "wrong horse"], of: page)
            #expect(wrong.status == 400 && wrong.step == "signin" && wrong.problem == "INVALID_CREDENTIALS")
            #expect(wrong.forms.first?.fields["identifier"] == person.email && !wrong.text.contains("wrong horse"))
            #expect(browser.sessions == nil)
            let unknown = try await browser.submit(
                "password", ["identifier": "nobody@example.com", "password": "wrong horse"], of: wrong)
            #expect(unknown.status == 400 && unknown.problem == "INVALID_CREDENTIALS")
            let empty = try await browser.submit("password", ["identifier": person.email, "password": ""], of: wrong)
            #expect(empty.status == 400 && empty.problem == "MISSING_EMAIL_OR_PASSWORD")
            #expect(try await browser.signIn(person, at: wrong).step == "return")
        }
    }

    @Test func `a code signs in, also a new account`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, address) = (RelyingParty(server), APIClient.newAddress())
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            var view = try await browser.submit("code", ["identifier": address], of: page)
            #expect(view.status == 200 && view.step == "code" && view.text.contains(address))
            #expect(!view.path.contains("@") && view.text.contains("autocomplete=\"one-time-code\""))
            view = try await browser.submit("back", of: view)
            #expect(view.step == "signin")
            view = try await browser.submit("code", ["identifier": address], of: view)
            let code = try await server.mailedCode(to: address)
            let wrong = try await browser.submit("verify", ["code": code == "000000" ? "000001" : "000000"], of: view)
            #expect(wrong.status == 400 && wrong.step == "code" && wrong.problem == "INVALID_CREDENTIALS")
            let welcome = try await browser.submit("verify", ["code": code], of: wrong)
            #expect(welcome.step == "welcome", "\(welcome.text)")
            let done = try await browser.submit("skip", of: welcome)
            #expect(done.step == "return", "\(done.text)")
            let tokens = try await party.redeem(done.code ?? "")
            let claims = try DecodedToken(tokens["id_token"].string ?? "").claims
            #expect(claims["amr"] == ["otp"])
            let info = try await party.userInfo(tokens["access_token"].string ?? "")
            #expect(info["email"].string == address && info["email_verified"] == true, "\(info.text)")
        }
    }

    @Test func `an address that no code can be sent to, or is unknown, tells nothing`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            let malformed = try await browser.submit("code", ["identifier": "not an address"], of: page)
            #expect(malformed.status == 400 && malformed.step == "signin" && malformed.problem == "INVALID_PARAMETER")
            #expect(malformed.forms.first?.fields["identifier"] == "not an address")
            let known = try await APIClient(server).register(at: server).email
            var texts: [String] = []
            for address in [known, APIClient.newAddress()] {
                var browser = PageBrowser(server)
                let page = try await browser.begin(RelyingParty(server))
                let sent = try await browser.submit("code", ["identifier": address], of: page)
                texts.append(
                    sent.text.replacing(address, with: "ADDRESS").replacing(/(nonce|value)="[^"]*"/, with: ""))
                texts[texts.count - 1] = texts[texts.count - 1].replacing(/href="[^"]*cancel"/, with: "")
            }
            #expect(texts[0] == texts[1])
        }
    }

    @Test func `pages have the name, the language and the links of the configuration`() async throws {
        let pages = """

              pages:
                name: Photo Club
                language: fr
                links: { privacy: "https://club.example/privacy#data", support: "https://club.example/help" }
            """
        try await TestServer.with(application: RelyingParty.configuration + pages) { server in
            var browser = PageBrowser(server)
            let views = [
                try await browser.begin(RelyingParty(server)), try await browser.open("/oauth/logout"),
                try await browser.open("/oauth/authorize"), try await browser.open("/signin/unknown"),
            ]
            #expect(views.map(\.step) == ["signin", "signout", "error", "error"])
            for view in views {
                #expect(view.text.contains("<html lang=\"fr\">") && view.text.contains(" · Photo Club</title>"))
                #expect(view.text.contains("<p class=\"brand\">Photo Club</p>"))
                #expect(view.text.contains("<a href=\"https://club.example/privacy#data\""))
                #expect(view.text.contains("<a href=\"https://club.example/help\""))
            }
            browser.headers.add(name: "accept-language", value: "pl, de;q=0.5")
            #expect(try await browser.open(views[0].path).text.contains("<html lang=\"de\">"))
        }
    }

    @Test func `a language that a link has chosen holds until a client asks for another one`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, providers: "scripted: {}") { server in
            let (party, person) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.begin(party, ["ui_locales": "fr", "lang": "es"])
            #expect(page.text.contains("<html lang=\"fr\">"), "lang is no parameter of a client")
            let german = try await browser.open(page.path + "?lang=de")
            let away = try await browser.follow("scripted", of: german)
            let back = try await browser.comeBack(from: away, ["error": "access_denied"])
            #expect(back.problem == "access_denied" && back.text.contains("<html lang=\"de\">"), "\(back.text)")
            #expect(try await browser.signIn(person, at: back).code != nil)
            #expect(try await browser.open("/account").text.contains("<html lang=\"de\">"))
            #expect(browser.cookieLines["gatehouse-lang-demo"]?.contains("Max-Age") == false)
            let out = try await browser.open("/oauth/logout?ui_locales=fr")
            #expect(out.text.contains("<html lang=\"fr\">"), "the client asks later than the link")
            let again = try await browser.begin(party, ["prompt": "login"])
            #expect(again.text.contains("<html lang=\"de\">"), "the client asks for none")
            let spanish = try await browser.begin(party, ["prompt": "login", "ui_locales": "es"])
            #expect(spanish.text.contains("<html lang=\"es\">") && browser.cookies["gatehouse-lang-demo"] == nil)
            browser.cookies["gatehouse-lang-demo"] = "xx"
            #expect(try await browser.open("/account").text.contains("<html lang=\"en\">"))
        }
    }

    @Test func `a number that was idle for long needs a second proof, which the request remembers`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, providers: "phone: { enabled: true }") {
            server in
            let (api, number, address) = (APIClient(server), "+33612345678", APIClient.newAddress())
            func call() async throws -> APIClient.Answer {
                try await api.post("/auth/phone/otp/verify", .object(api.challenge("phone", number, at: server)))
            }
            func codes(to address: String) -> Set<String> {
                let messages = server.inbox.messages().filter { $0.to == address }
                return Set(messages.compactMap { $0.text.firstMatch(of: /[0-9]{6}/).map { String($0.output) } })
            }
            let person = try Person(try await call(), email: address, password: "")
            let proof = try await api.challenge("email", address, at: server, bearer: person.accessToken)
            let linked = try await api.post("/auth/identities/email", .object(proof), bearer: person.accessToken)
            #expect(linked.status == 200, "\(linked.text)")
            try await server.age("addresses", "verified_at", by: "366 days", where: "kind = 'phone'")
            try await server.age("identities", "last_used_at", "created_at", by: "366 days", where: "phone IS NOT NULL")

            var browser = PageBrowser(server)
            let known = codes(to: number)
            var view = try await browser.begin(RelyingParty(server))
            view = try await browser.submit("code", ["identifier": number], of: view)
            let first = try await api.sentCode(to: number, at: server, other: known)
            view = try await browser.submit("verify", ["code": first], of: view)
            #expect(view.status == 400 && view.step == "second-proof" && view.problem == "SECOND_PROOF_REQUIRED")
            view = try await browser.open(view.path)
            #expect(view.status == 200 && view.step == "second-proof" && view.problem == "SECOND_PROOF_REQUIRED")
            #expect(view.text.contains("may have a new owner"), "the text of the rule number.idle")
            #expect(view.accepts("code") && !view.accepts("password"), "the ways of that account")
            #expect(view.text.contains("inputmode=\"email\"") && !view.text.contains(address), "but no address")
            let mailed = codes(to: address)
            view = try await browser.submit("code", ["identifier": address], of: view)
            let second = try await api.sentCode(to: address, at: server, other: mailed)
            #expect(try await browser.submit("verify", ["code": second], of: view).code != nil)
            #expect(try await call().status == 200, "the number is confirmed")
        }
    }

    @Test func `cancelling and a hint for somebody else are refused to the client`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            let (ada, ben) = (try await api.register(at: server), try await api.register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            let link = try #require(page.text.firstMatch(of: /<a id="cancel" href="([^"]*)"/)?.output.1)
            let cancelled = try await browser.open(String(link))
            #expect(cancelled.step == "return" && cancelled.returnedError == "access_denied")
            #expect(cancelled.errorDescription == "The person has not allowed it")
            #expect(try await browser.open(page.path).fault == "request_over")
            let claims = #"{"id_token":{"sub":{"value":"\#(ada.uid)"}}}"#
            let hinted = try await browser.begin(party, ["claims": claims])
            let other = try await browser.signIn(ben, at: hinted)
            #expect(other.returnedError == "access_denied" && other.code == nil, "\(other.text)")
            #expect(other.errorDescription == "The person has signed in with another account than the request names")
            let right = try await browser.begin(party, ["claims": claims])
            #expect(try await browser.signIn(ada, at: right).code != nil)
        }
    }
}
