import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The sections of `/account`, by clicks.
struct AccountPageTests {
    private static let sections = [
        "name", "language", "password", "identities", "sessions", "apps", "merges", "data",
    ]

    @Test func `a person signs in to the account, and every section says whose it is`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let signIn = try await browser.open("/account")
            #expect(signIn.step == "signin" && signIn.path.hasPrefix("/signin/"))
            let overview = try await browser.signIn(ada, at: signIn)
            #expect(overview.status == 200 && overview.step == "account" && overview.path == "/account")
            for section in Self.sections {
                #expect(overview.text.contains("href=\"\(PageBrowser.issuer)/account/\(section)\""))
                let page = try await browser.open("/account/\(section)")
                #expect(page.status == 200 && page.step == "account-\(section)", "\(section): \(page.text)")
                #expect(page.text.contains("<strong>\(ada.email)</strong>"), "\(section)")
                #expect(page.text.contains("\" aria-current=\"page\">") && page.text.utf8.count <= 24 * 1024)
                let headers = page.answer.headers
                #expect(headers.first(name: "cache-control") == "no-store")
                #expect(headers.first(name: "x-frame-options") == "DENY")
                #expect(headers.first(name: "referrer-policy") == "same-origin")
                let german = try await browser.open("/account/\(section)?lang=de")
                #expect(german.text.contains("<html lang=\"de\">") && german.text.contains("/account/name\""))
            }
            #expect(try await browser.open("/account").text.contains("<html lang=\"de\">"), "the choice holds")
            #expect(overview.text.contains("href=\"\(PageBrowser.issuer)/oauth/logout\""))
            expectError(try await browser.open("/account/nothing").answer, 404, "NOT_FOUND")
        }
    }

    @Test func `a name and a language are saved, and a sign-in keeps the language`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            browser.headers.add(name: "accept-language", value: "fr-FR,fr;q=0.9")
            _ = try await browser.signIn(ada, at: browser.open("/account/name"))
            let page = try await browser.open("/account/name")
            let saved = try await browser.submit("save", ["displayName": "Ada <b>"], of: page)
            #expect(saved.status == 200 && saved.step == "account-name" && saved.text.contains("role=\"status\""))
            #expect(saved.text.contains("<strong>Ada &lt;b&gt;</strong><span>\(ada.email)</span>"))
            #expect(try await APIClient(server).get("/auth/me", bearer: ada.accessToken)["displayName"] == "Ada <b>")
            let long = String(repeating: "x", count: 257)
            let refused = try await browser.submit("save", ["displayName": long], of: page)
            #expect(refused.status == 400 && refused.problem == "INVALID_PARAMETER")
            #expect(refused.forms.first?.fields["displayName"] == long && refused.text.contains(" trop long"))

            let languages = try await browser.open("/account/language")
            #expect(languages.text.contains("<option value=\"fr\" lang=\"fr\" selected>"))
            let german = try await browser.submit("save", ["lang": "de"], of: languages)
            #expect(
                german.text.contains("<html lang=\"de\">") && german.text.contains("value=\"de\" lang=\"de\" selected"))
            let spanish = try await browser.open("/account/language?lang=es")
            #expect(spanish.text.contains("<html lang=\"es\">"))
            let kept = try await browser.submit("save", ["lang": "de"], of: spanish)
            #expect(kept.text.contains("<html lang=\"de\">"), "a saved language ends what a link has chosen")
            #expect(try await browser.submit("save", ["lang": "xx"], of: languages).problem == "INVALID_PARAMETER")
            let again = try await browser.begin(RelyingParty(server), ["prompt": "login"])
            _ = try await browser.submit("password", ["password": ada.password], of: again)
            #expect(try await browser.open("/account").text.contains("<html lang=\"de\">"))
        }
    }

    @Test func `a password is changed, or set by an account without one`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (api, ada) = (APIClient(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            _ = try await browser.signIn(ada, at: browser.open("/account/password"))
            let page = try await browser.open("/account/password")
            let wrong = try await browser.submit(
                "save", ["currentPassword": "wrong horse", "password": APIClient.otherPassword], of: page)
            #expect(wrong.status == 400 && wrong.problem == "INVALID_CREDENTIALS" && !wrong.text.contains("horse"))
            let weak = try await browser.submit("save", ["currentPassword": ada.password, "password": "abc"], of: page)
            #expect(weak.problem == "TOO_WEAK_PASSWORD" && !weak.text.contains("value=\"abc\""))
            let saved = try await browser.submit(
                "save", ["currentPassword": ada.password, "password": APIClient.otherPassword], of: page)
            #expect(saved.status == 200 && saved.step == "account-password" && saved.text.contains("role=\"status\""))
            #expect(try await api.login(ada.email, APIClient.otherPassword).status == 200)
            expectError(try await api.get("/auth/me", bearer: ada.accessToken), 401, "INVALID_TOKEN")

            let bob = try await api.signInByCode(at: server)
            var other = try await PageBrowser.signedIn(bob, at: server)
            let empty = try await other.open("/account/password")
            #expect(empty.forms.first?.fields["currentPassword"] == nil)
            #expect(try await other.submit("save", ["password": APIClient.password], of: empty).status == 200)
            #expect(try await api.login(bob.email).status == 200)
        }
    }

    @Test func `an identity is removed, unless the others cannot sign in`() async throws {
        try await TestServer.linking(application: RelyingParty.configuration) { server, api in
            let ada = try await api.register(at: server)
            #expect(try await api.link(.somebody("ada"), bearer: ada.accessToken).status == 200)
            var browser = try await PageBrowser.signedIn(ada, at: server)
            let page = try await browser.open("/account/identities")
            #expect(page.text.contains(">Scripted</strong>") && page.text.contains(ada.email))
            let email = try await api.identityID(of: "email", bearer: ada.accessToken)
            let scripted = try await api.identityID(of: "scripted", bearer: ada.accessToken)
            try await server.execute("UPDATE identities SET quarantined_at = now() WHERE provider = 'scripted'")
            let last = try await browser.submit("remove", of: page, id: email)
            #expect(last.status == 400 && last.problem == "LAST_USABLE_IDENTITY" && last.step == "account-identities")
            try await server.execute("UPDATE identities SET quarantined_at = NULL")
            let removed = try await browser.submit("remove", of: last, id: scripted)
            #expect(removed.status == 200 && !removed.text.contains(scripted) && !removed.accepts("remove"))
            #expect(removed.text.contains("/account/data\""))
            #expect(try await api.identities(bearer: ada.accessToken).count == 1)
        }
    }

    @Test func `an address is changed with a code`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (api, address) = (APIClient(server), APIClient.newAddress())
            let ada = try await api.register(at: server)
            var browser = try await PageBrowser.signedIn(ada, at: server)
            let page = try await browser.open("/account/identities")
            let taken = try await browser.submit("address", ["address": ada.email], of: page)
            #expect(
                taken.status == 400 && taken.problem == "INVALID_PARAMETER" && taken.text.contains("<details open>"))
            let asked = try await browser.submit("address", ["address": address], of: page)
            #expect(asked.status == 200 && asked.accepts("verify") && asked.path == "/account/identities")
            let code = try await server.mailedCode(to: address)
            let wrong = try await browser.submit("verify", ["code": code == "000000" ? "000001" : "000000"], of: asked)
            #expect(wrong.status == 400 && wrong.problem == "INVALID_CREDENTIALS" && wrong.accepts("verify"))
            let elsewhere = try await browser.submit("verify", ["code": code, "address": "a@b.example"], of: wrong)
            #expect(elsewhere.status == 200 && elsewhere.problem == nil, "the form is not the one that was shown")
            #expect(elsewhere.accepts("verify") && !elsewhere.text.contains("a@b.example"))
            let german = try await browser.open("/account/identities?lang=de")
            #expect(german.accepts("verify") && german.text.contains(address), "the form is there until its code ends")
            #expect(try await !browser.open("/account/name").accepts("verify"))
            var other = try await PageBrowser.signedIn(ada, at: server)
            #expect(try await other.open("/account/identities").accepts("verify"), "also in another tab or browser")
            try await server.age("proofs", "expires_at", by: "11 minutes", where: "kind = 'address-change'")
            #expect(try await !browser.open("/account/identities").accepts("verify"))
            try await server.execute(
                "UPDATE proofs SET expires_at = now() + interval '1 minute' WHERE kind = 'address-change'")
            let done = try await browser.submit("verify", ["code": code], of: wrong)
            #expect(done.status == 200 && done.text.contains(address) && !done.accepts("verify"))
            #expect(try await api.get("/auth/me", bearer: ada.accessToken)["email"] == .string(address))
        }
    }

    @Test func `sessions are ended, and this browser is kept`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (api, ada) = (APIClient(server), try await APIClient(server).register(at: server))
            let (second, third) = (try await api.login(ada.email), try await api.login(ada.email))
            var browser = PageBrowser(server)
            _ = try await browser.signIn(ada, at: browser.open("/account/sessions"))
            #expect(browser.cookieLines["gatehouse-sso-demo"]?.contains("Max-Age") == false)
            let page = try await browser.open("/account/sessions")
            let kept = try await browser.submit("keep", ["remember": "1"], of: page)
            #expect(kept.status == 200 && kept.text.contains("value=\"1\" checked"))
            #expect(browser.cookieLines["gatehouse-sso-demo"]?.contains("Max-Age=2592000") == true)
            let forgotten = try await browser.submit("keep", of: kept)
            #expect(!forgotten.text.contains("value=\"1\" checked"))
            #expect(browser.cookieLines["gatehouse-sso-demo"]?.contains("Max-Age") == false)

            let session = try DecodedToken(second["accessToken"].string ?? "").claims["sid"].string
            let ended = try await browser.submit("end", of: forgotten, id: session)
            #expect(ended.status == 200 && !ended.text.contains(session ?? "-"))
            expectError(try await api.get("/auth/me", bearer: second["accessToken"].string), 401, "INVALID_TOKEN")
            #expect(try await api.get("/auth/me", bearer: third["accessToken"].string).status == 200)
            let alone = try await browser.submit("end-others", of: ended)
            #expect(alone.status == 200 && !alone.accepts("end-others") && alone.accepts("keep"))
            #expect(try await server.liveSessions(of: ada.uid) == 1)
            let repeated = try await browser.submit("end", of: forgotten, id: session)
            #expect(repeated.status == 400 && repeated.problem == "SESSION_NOT_FOUND")
        }
    }

    @Test func `an app shows what it may do, and loses access`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (spa, ada) = (RelyingParty.public(server), try await APIClient(server).register(at: server))
            try await spa.consent(of: ada)
            var browser = try await PageBrowser.signedIn(ada, at: server)
            let tokens = try await spa.redeem(spa.code(cookie: browser.cookieHeader))
            let page = try await browser.open("/account/apps?lang=de")
            #expect(page.text.contains(">Galerie</strong>") && page.text.contains("E-Mail-Adresse sehen"))
            #expect(page.text.contains("\u{A0}UTC · 127.0.0.1"))
            #expect(page.text.contains("Erlaubt am") && !page.text.contains("Verwendet seit"))
            let revoked = try await browser.submit("revoke", of: page)
            #expect(revoked.status == 200 && revoked.text.contains("<html lang=\"de\">") && !revoked.accepts("revoke"))
            #expect(try await spa.userInfo(tokens["access_token"].string ?? "").isOAuthError(401, "invalid_token"))
            #expect(try await browser.submit("revoke", of: page).problem == "GRANT_NOT_FOUND")
            let web = RelyingParty(server)
            _ = try await web.redeem(web.code(cookie: browser.cookieHeader))
            let own = try await browser.open("/account/apps")
            #expect(own.text.contains(">Photos</strong><span>Verwendet seit dem "), "a client that does not ask")
        }
    }

    @Test func `a merge is undone`() async throws {
        try await TestServer.linking(application: RelyingParty.configuration) { server, api in
            let ada = try await api.register(at: server)
            _ = try await api.newcomer("bob")
            let ticket = try await api.ticket(.somebody("bob"), bearer: ada.accessToken)
            #expect(try await api.merge(ticket, bearer: ada.accessToken).status == 200)
            var browser = try await PageBrowser.signedIn(ada, at: server)
            let page = try await browser.open("/account/merges")
            let undone = try await browser.submit("undo", of: page)
            #expect(undone.status == 200 && undone.step == "account-merges" && !undone.accepts("undo"))
            #expect(try await api.identities(bearer: ada.accessToken).count == 1)
            #expect(try await browser.submit("undo", of: page).problem == "NOT_FOUND")
        }
    }

    @Test func `the data are downloaded, and the account is deleted with the word that the page shows`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (api, ada) = (APIClient(server), try await APIClient(server).register(at: server))
            var browser = try await PageBrowser.signedIn(ada, at: server)
            let page = try await browser.open("/account/data?lang=de")
            let file = try await browser.submit("export", of: page)
            #expect(file.answer.headers.first(name: "content-disposition")?.hasPrefix("attachment") == true)
            let exported = try await api.get("/auth/account/export", bearer: ada.accessToken)
            #expect(file.status == 200 && file.answer.json.keys == exported.json.keys && file.text.contains(ada.email))
            let word = page.text.firstMatch(of: /data-word="(\w+)"/).map { String($0.output.1) }
            #expect(word == "LÖSCHEN")
            for wrong in ["", "DELETE"] {
                let refused = try await browser.submit("delete", ["word": wrong], of: page)
                #expect(refused.status == 400 && refused.problem == "INVALID_PARAMETER")
            }
            #expect(try await server.liveSessions(of: ada.uid) == 2)
            let done = try await browser.submit("delete", ["word": "löschen "], of: page)
            #expect(done.status == 200 && done.step == "done", "\(done.text)")
            #expect(done.text.contains("\u{A0}UTC"), "the deadline has its time")
            #expect(try await server.liveSessions(of: ada.uid) == 0)
            let receipt = done.text.firstMatch(of: /id="receipt" href="([^"]*)"/).map { String($0.output.1) } ?? ""
            #expect(try await browser.open(receipt).answer["status"] == "scheduled")
            #expect(try await browser.submit("delete", ["word": "LÖSCHEN"], of: page).step == "signin")
        }
    }
}

extension PageBrowser {
    /// A new browser in which the person has just signed in.
    static func signedIn(_ person: Person, at server: TestServer) async throws -> PageBrowser {
        var browser = PageBrowser(server)
        let cookie = try await RelyingParty(server).browser(of: person).split(separator: "=")
        browser.cookies[String(cookie[0])] = String(cookie[1])
        return browser
    }
}

extension APIClient {
    /// Creates a person who has signed in with a code, and has no password.
    func signInByCode(at server: TestServer) async throws -> Person {
        let address = Self.newAddress()
        let answer = try await post("/auth/email/otp/verify", .object(challenge("email", address, at: server)))
        return try Person(answer, email: address, password: "")
    }
}
