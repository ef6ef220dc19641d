import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Opening an account at the pages, with a code first; and the page that mails a link to choose a new password.
struct SignUpPageTests {
    /// Signs up with a code, and shows the page of the new account.
    private func signUp(
        _ address: String, _ browser: inout PageBrowser, at server: TestServer
    ) async throws -> PageBrowser.View {
        let page = try await browser.open("/signup")
        try #require(page.step == "signup" && page.path.hasPrefix("/signin/"), "\(page.status) \(page.text)")
        let asked = try await browser.submit("code", ["identifier": address], of: page)
        try #require(asked.step == "code", "\(asked.text)")
        let code = try await server.mailedCode(to: address)
        return try await browser.submit("verify", ["code": code], of: asked)
    }

    @Test func `a new account is welcomed once, with a name and a password, and ends at the account pages`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (api, address) = (APIClient(server), APIClient.newAddress())
            var browser = PageBrowser(server)
            let welcome = try await signUp(address, &browser, at: server)
            #expect(welcome.status == 200 && welcome.step == "welcome", "\(welcome.text)")
            #expect(welcome.text.contains("autocomplete=\"new-password\""))
            #expect(try await browser.open(welcome.path).step == "welcome", "until it is answered")
            let done = try await browser.submit(
                "save", ["displayName": "Ada", "password": APIClient.password], of: welcome)
            #expect(done.path == "/account", "\(done.text)")
            let session = try await server.text("SELECT id::text FROM sessions WHERE kind = 'browser'")
            #expect(browser.cookies["gatehouse-account-demo"] == session && browser.sessions != nil)
            let signedIn = try await api.login(address)
            #expect(signedIn.status == 200 && signedIn["user"]["displayName"] == "Ada", "\(signedIn.text)")
            // The notice of a later change is written after one of the first password would have been.
            let changed = try await api.put(
                "/auth/change-password", ["password": .string(APIClient.otherPassword)],
                bearer: signedIn["accessToken"].string)
            #expect(changed.status == 204, "\(changed.text)")
            #expect(try await api.mails(to: address, at: server, count: 2).count == 2, "the code, and one notice")
            #expect(try await browser.open(welcome.path).fault == "request_over")
            var second = PageBrowser(server)
            let page = try await second.open("/signin")
            let back = try await second.submit(
                "password", ["identifier": address, "password": APIClient.otherPassword], of: page)
            #expect(back.path == "/account", "no second welcome")
        }
    }

    @Test func `both fields may be left out, and a weak password is refused with its reasons`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let address = APIClient.newAddress()
            var browser = PageBrowser(server)
            let welcome = try await signUp(address, &browser, at: server)
            let weak = try await browser.submit("save", ["displayName": "Ada", "password": "abc"], of: welcome)
            #expect(weak.status == 400 && weak.step == "welcome" && weak.problem == "TOO_WEAK_PASSWORD")
            #expect(weak.text.contains("too short") && weak.forms.first?.fields["displayName"] == "Ada")
            #expect(!weak.text.contains("\"abc\""))
            let long = try await browser.submit(
                "save", ["displayName": String(repeating: "x", count: 257)], of: weak)
            #expect(long.status == 400 && long.problem == "INVALID_PARAMETER")
            let done = try await browser.submit("save", ["displayName": "", "password": ""], of: long)
            #expect(done.path == "/account")
            #expect(try await server.count("SELECT count(*) FROM passwords") == 0)
        }
    }

    @Test func `after some minutes the page asks for no password`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let welcome = try await signUp(APIClient.newAddress(), &browser, at: server)
            try await server.age("sessions", "authenticated_at", by: "301 seconds", where: "kind = 'browser'")
            let late = try await browser.submit("save", ["password": APIClient.password], of: welcome)
            #expect(late.status == 400 && late.step == "welcome" && late.problem == "TOKEN_TOO_OLD")
            #expect(!late.text.contains("type=\"password\""))
            #expect(try await browser.submit("skip", of: late).path == "/account")
        }
    }

    @Test func `a new account whose session has ended signs in again`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let welcome = try await signUp(APIClient.newAddress(), &browser, at: server)
            try await server.execute("UPDATE sessions SET ended_at = now(), end_reason = 'revoked'")
            let ended = try await browser.submit("save", ["displayName": "Ada"], of: welcome)
            #expect(ended.step == "signup", "\(ended.text)")
            let address = APIClient.newAddress()
            let asked = try await browser.submit("code", ["identifier": address], of: ended)
            let code = try await server.mailedCode(to: address)
            #expect(try await browser.submit("verify", ["code": code], of: asked).step == "welcome")
        }
    }

    @Test func `prompt=create shows the page, also to somebody who is signed in`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(party, ["prompt": "create"])
            #expect(page.step == "signup" && page.accepts("code") && !page.accepts("password"))
            let known = try await browser.open(page.path + "?step=signin")
            #expect(known.step == "signin")
            #expect(try await browser.signIn(ada, at: known).code != nil, "somebody who has an account after all")
            #expect(try await browser.begin(party, ["prompt": "create"]).step == "signup")
        }
    }

    @Test func `the link of the sign-in page leads to it and back, in the language that was chosen`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server), ["ui_locales": "fr"])
            let german = try await browser.open(page.path + "?lang=de")
            #expect(german.text.contains("<a id=\"signup\" href=\"?step=signup\""))
            let form = try await browser.open(page.path + "?step=signup")
            #expect(form.step == "signup" && form.text.contains("<html lang=\"de\">"))
            let address = APIClient.newAddress()
            let asked = try await browser.submit("code", ["identifier": address], of: form)
            #expect(asked.step == "code" && asked.text.contains("<html lang=\"de\">"))
            #expect(try await browser.submit("back", of: asked).step == "signup", "one step back")
            #expect(try await browser.open(page.path).step == "signin", "nothing of it is stored")
            for step in ["welcome", "consent", "done", "second-proof", "restore", "x\""] {
                #expect(try await browser.open(page.path + "?step=\(step.formEncoded)").step == "signin", "\(step)")
            }
        }
    }

    @Test func `page and mail are the same whether the address has an account`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var texts: [String] = []
            var mails: [String] = []
            for (address, count) in [(ada.email, 2), (APIClient.newAddress(), 1)] {
                var browser = PageBrowser(server)
                let page = try await browser.open("/signup")
                let asked = try await browser.submit("code", ["identifier": address], of: page)
                #expect(asked.status == 200)
                texts.append(
                    asked.text.replacing(address, with: "ADDRESS").replacing(/(nonce|value)="[^"]*"/, with: "")
                        .replacing(/href="[^"]*cancel"/, with: ""))
                let mail = try await APIClient(server).mails(to: address, at: server, count: count)[0]
                mails.append(
                    "\(mail.subject ?? "")\n\(mail.text.replacing(address, with: "ADDRESS").replacing(/[0-9]{6}/, with: ""))"
                )
            }
            #expect(texts[0] == texts[1])
            #expect(mails[0].replacing(/token=\S+/, with: "") == mails[1].replacing(/token=\S+/, with: ""))
        }
    }

    @Test func `where no code opens an account, sign-up is not offered`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, email: "mode: existing") { server in
            var browser = PageBrowser(server)
            let page = try await browser.open("/signup")
            #expect(page.step == "signin" && !page.text.contains("id=\"signup\""), "\(page.text)")
            #expect(try await browser.open(page.path + "?step=signup").step == "signin")
        }
    }

    @Test func `a sign-in for the account pages is no client's, and ends when it is cancelled`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.open("/signin")
            #expect(page.step == "signin")
            #expect(!page.text.contains("~account"))
            var other = PageBrowser(server)
            #expect(try await other.open(page.path).fault == "not_your_request")
            let request = String(page.path.split(separator: "/").last ?? "")
            let asClient = [
                "client_id": "~account", "request_uri": "urn:ietf:params:oauth:request_uri:\(request)",
            ]
            let answer = try await browser.open("/oauth/authorize?\(RelyingParty.encoded(asClient))")
            #expect(answer.status == 400 && answer.fault == "invalid_request_uri", "no client may use it")
            let left = try await browser.open(page.link("cancel") ?? "")
            #expect(left.status == 200 && left.step == "signed-out", "\(left.text)")
            #expect(try await browser.open(page.path).fault == "request_over")
        }
    }

    enum Closed: CaseIterable { case required, joining, linking }

    @Test(arguments: Closed.allCases)
    func `a code opens no account where one is required`(_ request: Closed) async throws {
        try await TestServer.with(application: RelyingParty.configuration, providers: "scripted: {}") { server in
            let (party, person) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            var page: PageBrowser.View
            switch request {
            case .required:
                page = try await browser.begin(
                    party, ["claims": #"{"id_token":{"sub":{"value":"\#(person.uid)"}}}"#])
            case .joining:
                page = try await browser.present(.somebody(), at: browser.begin(party))
                page = try await browser.submit("link", of: page)
            case .linking:
                var visitor = try await LinkingBrowser(of: person, at: server)
                try await server.age("sessions", "authenticated_at", by: "1 hour", where: "kind = 'browser'")
                page = try await visitor.browser.submit("other", of: visitor.add("scripted"))
                browser = visitor.browser
            }
            #expect(page.step == "signin" && page.link("signup") == nil, "\(page.text)")
            let address = APIClient.newAddress()
            page = try await browser.submit("code", ["identifier": address], of: page)
            let code = try await server.mailedCode(to: address)
            let wrong = try await browser.submit("verify", ["code": code == "000000" ? "000001" : "000000"], of: page)
            #expect(wrong.status == 400 && wrong.problem == "INVALID_CREDENTIALS", "\(wrong.text)")
            for time in ["once", "again"] {
                let answer = try await browser.submit("verify", ["code": code], of: wrong)
                if request == .required {
                    #expect(answer.returnedError == "access_denied", "\(time): \(answer.text)")
                    #expect(answer.errorDescription?.contains("another account") == true, "\(time): \(answer.text)")
                } else {
                    #expect(answer.status == 400 && answer.step == "code", "\(time): \(answer.text)")
                    #expect(answer.problem == "INVALID_CREDENTIALS", "\(time)")
                }
            }
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
        }
    }

    // MARK: - A forgotten password

    @Test func `a forgotten password has one answer for all addresses, and a mail for known ones`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(party, ["login_hint": ada.email])
            #expect(page.text.contains("<a id=\"forgot\" href=\"?step=forgot\""))
            let form = try await browser.open(page.path + "?step=forgot")
            #expect(form.step == "forgot" && form.forms.first?.fields["identifier"] == ada.email)
            var texts: [String] = []
            for address in [ada.email, APIClient.newAddress()] {
                let done = try await browser.submit("send", ["identifier": address], of: form)
                #expect(done.status == 200 && done.step == "done", "\(done.text)")
                #expect(done.target == PageBrowser.issuer + page.path)
                texts.append(done.text.replacing(/nonce="[^"]*"/, with: ""))
            }
            #expect(texts[0] == texts[1])
            let mail = try await party.api.mails(to: ada.email, at: server, count: 2)[0]
            #expect(mail.text.contains("/reset-password?token="), "\(mail.text)")
            for wrong in ["not an address", ""] {
                let refused = try await browser.submit("send", ["identifier": wrong], of: form)
                #expect(refused.status == 400 && refused.step == "forgot", "\(refused.text)")
                #expect(refused.forms.first?.fields["identifier"] == wrong)
            }
            #expect(try await browser.signIn(ada, at: browser.open(page.path)).code != nil, "the request goes on")
        }
    }

    @Test func `forms for a forgotten password count toward the limit of the REST interface`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, rateLimits: "{ forgotPassword: 2/h }") {
            server in
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            let form = try await browser.open(page.path + "?step=forgot")
            #expect(
                try await APIClient(server).post("/auth/forgot-password", ["email": "a@b.example"]).status == 202)
            #expect(try await browser.submit("send", ["identifier": "a@b.example"], of: form).step == "done")
            let limited = try await browser.submit("send", ["identifier": "a@b.example"], of: form)
            #expect(limited.status == 429 && limited.problem == "RATE_LIMITED" && limited.step == "forgot")
        }
    }
}
