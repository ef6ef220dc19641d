import Accounts
import Delivery
import Foundation
import Postgres
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// Forms that a browser sends twice with the same cookies, as a double click does; it shows only the last answer.
struct RepeatedFormTests {
    enum Proof: CaseIterable { case password, code, firstCode }
    enum Order: CaseIterable { case inSequence, atOnce }

    private static let lockAccount = Statement(
        .write, "SELECT uid FROM accounts WHERE application_id = 1 AND uid = $1 FOR UPDATE")

    /// Sends a form several times with the cookies that the browser has now, and returns each answer with its cookies.
    private func send(
        _ fields: [String: String], _ action: String, of page: PageBrowser.View, _ browser: PageBrowser,
        _ order: Order, times: Int = 2
    ) async throws -> [(view: PageBrowser.View, browser: PageBrowser)] {
        @Sendable func once() async throws -> (view: PageBrowser.View, browser: PageBrowser) {
            var copy = browser
            return (try await copy.submit(action, fields, of: page), copy)
        }
        var answers: [(view: PageBrowser.View, browser: PageBrowser)] = []
        guard order == .atOnce else {
            for _ in 0..<times { answers.append(try await once()) }
            return answers
        }
        return try await withThrowingTaskGroup { group in
            for _ in 0..<times { group.addTask { try await once() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The page and the fields that prove a person, or somebody without an account.
    private func proof(
        _ proof: Proof, of person: Person, at page: PageBrowser.View, _ browser: inout PageBrowser, _ server: TestServer
    ) async throws -> (page: PageBrowser.View, action: String, fields: [String: String]) {
        let address = proof == .firstCode ? APIClient.newAddress() : person.email
        if proof == .password {
            return (page, "password", ["identifier": address, "password": person.password])
        }
        let former = server.inbox.messages().filter { $0.to == address }
        let known = Set(former.flatMap { $0.text.matches(of: /[0-9]{6}/).map { String($0.output) } })
        let asked = try await browser.submit("code", ["identifier": address], of: page)
        try #require(asked.step == "code", "\(asked.text)")
        return (asked, "verify", ["code": try await APIClient(server).sentCode(to: address, at: server, other: known)])
    }

    /// The live sessions under the browser's cookie.
    private func sessions(_ browser: PageBrowser, _ server: TestServer) async throws -> Int {
        let cookie = try #require(browser.sessions.flatMap(server.backend.opaque.parse))
        return try await server.count(
            "SELECT count(*) FROM sessions WHERE browser_hash = $1 AND ended_at IS NULL", [.bytes(cookie.hash)])
    }

    @Test(arguments: [Proof.password, .code], Order.allCases)
    func `both answers end the request, under one cookie with one session`(kind: Proof, order: Order) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (ada, ben) = (try await party.api.register(at: server), try await party.api.register(at: server))
            var browser = PageBrowser(server)
            let first = try await browser.begin(party)
            #expect(try await browser.signIn(ben, at: first).code != nil)
            let former = browser.sessions
            let chosen = try await browser.begin(party, ["prompt": "select_account"])
            let other = try await browser.submit("other", of: chosen)
            let (page, action, fields) = try await proof(kind, of: ada, at: other, &browser, server)
            let answers = try await send(fields, action, of: page, browser, order)
            for (view, after) in answers {
                #expect(view.status == 200 && view.step == "return", "\(view.status) \(view.text)")
                #expect(after.sessions == answers[0].browser.sessions && after.sessions != former)
                #expect(try await sessions(after, server) == 2, "one of each account")
            }
            #expect(Set(answers.map(\.view.code)).count == 1, "one code")
            let tokens = try await party.redeem(answers[0].view.code ?? "")
            #expect(try DecodedToken(tokens["id_token"].string ?? "").claims["sub"].string == ada.uid)
            var late = browser
            #expect(try await late.submit(action, fields, of: page).fault == "request_over", "the code was redeemed")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 2)
            var last = try #require(answers.last).browser
            let accounts = try await last.begin(party, ["prompt": "select_account"])
            #expect(accounts.text.contains(ben.email) && accounts.forms.filter { $0.actions == ["choose"] }.count == 2)
            #expect(try await last.open(page.path).fault == "request_over", "only the form is answered again")
        }
    }

    @Test(arguments: Proof.allCases, Order.allCases)
    func `both answers show the present step if the request goes on`(kind: Proof, order: Order) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty.public(server)
            let ada = try await party.api.register(at: server)
            var browser = PageBrowser(server)
            let begun = try await browser.begin(party)
            let (page, action, fields) = try await proof(kind, of: ada, at: begun, &browser, server)
            let answers = try await send(fields, action, of: page, browser, order, times: 3)
            for (view, after) in answers {
                let step = kind == .firstCode ? "welcome" : "consent"
                #expect(view.status == 200 && view.step == step, "\(view.status) \(view.text)")
                #expect(after.sessions != nil && after.sessions == answers[0].browser.sessions)
            }
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
            var last = try #require(answers.last)
            if kind == .firstCode { last.view = try await last.browser.submit("skip", of: last.view) }
            #expect(try await last.browser.submit("allow", of: last.view).code != nil)
        }
    }

    @Test(arguments: [false, true])
    func `two proofs at the same moment open one session, or prove one again`(isSignedIn: Bool) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (ada, ben) = (try await party.api.register(at: server), try await party.api.register(at: server))
            var begun = PageBrowser(server)
            for person in isSignedIn ? [ada, ben] : [ben] {
                var page = try await begun.begin(party, ["prompt": "select_account"])
                if page.accepts("other") { page = try await begun.submit("other", of: page) }
                #expect(try await begun.signIn(person, at: page).code != nil)
            }
            let chosen = try await begun.begin(party, ["prompt": "select_account"])
            let page = try await begun.submit("other", of: chosen)
            let (browser, fields) = (begun, ["identifier": ada.email, "password": ada.password])
            let task = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockAccount, .uuid(UUID(uuidString: ada.uid)))
                let task = Task { try await send(fields, "password", of: page, browser, .atOnce) }
                try await server.awaitBlocked(2)
                return task
            }
            for (view, after) in try await task.value {
                #expect(view.code != nil, "\(view.status) \(view.text)")
                #expect(try await sessions(after, server) == 2, "one of each account")
            }
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 2)
        }
    }

    @Test func `a form that proves the account of a session again may come twice, too`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            for order in Order.allCases {
                var browser = PageBrowser(server)
                browser.cookies["gatehouse-sso-demo"] = String(try await party.browser(of: ada).dropFirst(19))
                let page = try await browser.begin(party, ["prompt": "login"])
                #expect(page.step == "reauthenticate", "\(page.text)")
                let answers = try await send(["password": ada.password], "password", of: page, browser, order)
                for (view, after) in answers {
                    #expect(view.code != nil, "\(view.status) \(view.text)")
                    #expect(try await sessions(after, server) == 1)
                    #expect(after.sessions == answers[0].browser.sessions && after.sessions != browser.sessions)
                }
            }
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 2)
        }
    }

    @Test func `only the same form, secret and cookies are answered again, and not for long`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let address = try await party.api.register(at: server).email
            var browser = PageBrowser(server)
            let begun = try await browser.begin(party)
            let page = try await browser.submit("code", ["identifier": address], of: begun)
            let shownAgain = try await browser.open(page.path)
            #expect(shownAgain.step == "code" && shownAgain.forms[0].fields["csrf"] != page.forms[0].fields["csrf"])
            let code = try await server.mailedCode(to: address, count: 2)
            var (first, second, third) = (browser, browser, browser)
            #expect(try await first.submit("verify", ["code": code], of: page).code != nil)
            let wrong = code == "000000" ? "000001" : "000000"
            for (view, code) in [(page, wrong), (shownAgain, code)] {
                let refused = try await second.submit("verify", ["code": code], of: view)
                #expect(refused.fault == "request_over" && second.sessions == nil, "\(refused.text)")
            }
            third.cookies["gatehouse-browser-demo"] = server.backend.opaque.make().text
            #expect(try await third.submit("verify", ["code": code], of: page).fault == "not_your_request")
            let late = try await first.submit("verify", ["code": code], of: page)
            #expect(late.fault == "request_over", "the browser has the new cookie")
            try await server.age("sessions", "authenticated_at", by: "62 seconds", where: "kind = 'browser'")
            let stale = try await second.submit("verify", ["code": code], of: page)
            #expect(stale.fault == "request_over" && second.sessions == nil, "\(stale.text)")
        }
    }

    /// The forms that end a request without a proof.
    enum Last: String, CaseIterable { case allow, proceed = "continue", choose, deny }

    @Test(arguments: Last.allCases, Order.allCases)
    func `a form that ends the request is answered again with the same code`(last: Last, order: Order) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party: RelyingParty =
                switch last {
                case .allow, .deny: .public(server)
                case .proceed: .native(server)
                case .choose: RelyingParty(server)
                }
            let ada = try await party.api.register(at: server)
            var browser = PageBrowser(server)
            browser.cookies["gatehouse-sso-demo"] = String(try await party.browser(of: ada).dropFirst(19))
            let page = try await browser.begin(party, last == .choose ? ["prompt": "select_account"] : [:])
            let action = last.rawValue
            let former = try await server.count("SELECT count(*) FROM authorization_codes")
            let answers = try await send([:], action, of: page, browser, order, times: 3)
            #expect(Set(answers.map(\.view.target)).count == 1, "\(answers.map(\.view.text))")
            #expect(answers.allSatisfy { $0.view.status == answers[0].view.status })
            var (signedOut, stranger) = (browser, PageBrowser(server))
            #expect(try await stranger.submit(action, of: page).fault == "not_your_request")
            #expect(try await browser.open(page.path).fault == "request_over", "only the form is answered again")
            let codes = try await server.count("SELECT count(*) FROM authorization_codes") - former
            guard last != .deny else {
                #expect(answers[0].view.returnedError == "access_denied" && codes == 0)
                #expect(try await browser.submit("allow", of: page).fault == "request_over", "another action")
                return
            }
            #expect(codes == 1)
            signedOut.cookies["gatehouse-sso-demo"] = nil
            #expect(try await signedOut.submit(action, of: page).fault == "request_over")
            let code = try #require(answers[0].view.code)
            #expect(try await party.redeem(code).status == 200)
            let late = try await browser.submit(action, of: page)
            #expect(late.fault == "request_over" && late.code == nil, "\(late.text)")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'client'") == 1)
        }
    }

    @Test func `a code that is shown again expires when it would have expired`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty.public(server)
            var browser = PageBrowser(server)
            let page = try await browser.signIn(party.api.register(at: server), at: browser.begin(party))
            let code = try await browser.submit("allow", of: page).code
            try await server.age("authorization_codes", "expires_at", by: "30 seconds")
            let again = try await browser.submit("allow", of: page)
            #expect(again.code != nil && again.code == code, "\(again.text)")
            try await server.age("authorization_codes", "expires_at", by: "31 seconds")
            #expect(try await browser.submit("allow", of: page).fault == "request_over")
        }
    }

    @Test(arguments: Order.allCases)
    func `requests of the account's pages, and links to cancel, are answered again, too`(order: Order) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            var browser = PageBrowser(server)
            let begun = try await browser.open("/signup")
            let (page, action, fields) = try await proof(.firstCode, of: ada, at: begun, &browser, server)
            let welcome = try await browser.submit(action, fields, of: page)
            #expect(welcome.step == "welcome", "\(welcome.text)")
            for (view, _) in try await send([:], "skip", of: welcome, browser, order) {
                #expect(view.status == 200 && view.path == "/account", "\(view.status) \(view.text)")
            }
            var other = PageBrowser(server)
            let asked = try await other.begin(party)
            let link = try #require(asked.link("cancel"))
            for _ in 1...2 { #expect(try await other.open(link).returnedError == "access_denied") }
        }
    }

    @Test func `a form that comes again after its session has ended opens another`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty.public(server)
            let ada = try await party.api.register(at: server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            for count in 1...2 {
                var copy = browser
                #expect(try await copy.signIn(ada, at: page).step == "consent")
                #expect(try await sessions(copy, server) == 1)
                #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == count)
                try await server.execute(
                    "UPDATE sessions SET ended_at = now(), end_reason = 'revoked' WHERE kind = 'browser'")
            }
        }
    }
}
