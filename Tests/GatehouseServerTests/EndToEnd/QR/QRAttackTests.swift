import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// A code alone signs no one in: not other phones or browsers, nor guesses, mailed pictures or expired codes.
struct QRAttackTests {
    @Test func `no phone answers before looking, and only the first account that looks may answer`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let api = APIClient(server)
            let (ada, ben) = (try await api.register(at: server), try await api.register(at: server))
            let (phone, other) = (QRPhone(of: ada, at: server), QRPhone(of: ben, at: server))
            let second = QRPhone(api, try #require(try await api.login(ada.email)["accessToken"].string))
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            for answer in [try await phone.confirm(code, 42), try await phone.refuse(code)] {
                #expect(answer.status == 404 && answer.code == "QR_NOT_FOUND", "\(answer.text)")
            }
            #expect(try await browser.open(page.path).state == "waiting")
            #expect(try await phone.look(code.uppercased()).status == 200, "scanners may change the case")
            let number = JSONValue.integer(Int64(try #require(try await browser.open(page.path).number)))
            for answer in [
                try await other.look(code), try await other.confirm(code, number), try await other.refuse(code),
                try await second.confirm(code, number), try await second.refuse(code),
            ] {
                #expect(answer.status == 404 && answer.code == "QR_NOT_FOUND", "\(answer.text)")
            }
            #expect(try await second.look(code).status == 200, "another session of the account sees who asks")
            #expect(try await browser.open(page.path).state == "scanned")
            #expect(try await phone.confirm(code, number).status == 204)
            #expect(try await other.look(code).code == "QR_NOT_FOUND")
        }
    }

    @Test func `unknown and malformed codes are the same, and nothing tells that they exist`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let phone = QRPhone(of: try await APIClient(server).register(at: server), at: server)
            var texts: Set<String> = []
            for code in [UUID().uuidString.lowercased(), "x", "00000000-0000-0000-0000-000000000000", "%00", "..%2f"] {
                for answer in [
                    try await phone.look(code), try await phone.confirm(code, 42), try await phone.refuse(code),
                ] {
                    #expect(answer.status == 404 && answer.code == "QR_NOT_FOUND", "\(code): \(answer.text)")
                    texts.insert(answer.text)
                }
            }
            #expect(texts.count == 1)
        }
    }

    @Test func `guests, borrowed sessions and ended ones may not look`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let api = APIClient(server)
            let (guest, ada) = (try await api.guest(), try await api.register(at: server))
            var browser = PageBrowser(server)
            let code = try #require(try await browser.showCode(RelyingParty(server)).qrCode)
            func expectRefusal(_ phone: QRPhone, _ what: Comment) async throws {
                for answer in [
                    try await phone.look(code), try await phone.confirm(code, 42), try await phone.refuse(code),
                    try await phone.look(UUID().uuidString),
                ] {
                    #expect(answer.status == 401 && answer.code == "INVALID_TOKEN", what)
                }
            }
            try await expectRefusal(QRPhone(of: guest, at: server), "a guest")
            try await expectRefusal(QRPhone(api, "x"), "no token")
            let uid: [Bind] = [.uuid(UUID(uuidString: ada.uid))]
            try await server.execute("UPDATE sessions SET is_borrowed = true WHERE uid = $1", uid)
            try await expectRefusal(QRPhone(of: ada, at: server), "a borrowed session")
            try await server.execute("UPDATE sessions SET is_borrowed = false WHERE uid = $1", uid)
            #expect(try await QRPhone(of: ada, at: server).look(code).status == 200)
            try await server.setDisabled(true, ada)
            try await expectRefusal(QRPhone(of: ada, at: server), "a disabled account")
            #expect(try await api.send(.GET, "/api/v1/auth/qr/\(code)").status == 401)
        }
    }

    @Test func `an app that has lost the scope answers nothing, although its token has it`() async throws {
        let granted = RelyingParty.instances()
        try await TestServer.with(application: granted) { server in
            let (app, _) = try await RelyingParty(server).install()
            _ = try await app.bind(to: app.api.register(at: server))
            let phone = QRPhone(app.api, try #require(try await app.credentials("qr")["access_token"].string))
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            #expect(try await phone.look(code).status == 200)
            let number = try #require(try await browser.open(page.path).number)
            let taken = granted.replacing("native, qr, offline_access]", with: "native, offline_access]")
            try #require(taken != granted)
            let configuration = try Configuration.parse(
                TestServer.yaml(application: taken), file: "test.yaml",
                environment: ["DATABASE_URL": server.databaseURL], installed: TestServer.providers)
            try await server.server.take(over: configuration, sections: [.applications])
            for answer in [
                try await phone.look(code), try await phone.confirm(code, .integer(Int64(number))),
                try await phone.refuse(code),
            ] {
                #expect(answer.status == 403 && answer.code == "INSUFFICIENT_SCOPE", "\(answer.text)")
            }
            #expect(try await browser.open(page.path).state == "scanned")
        }
    }

    @Test func `another browser neither sees nor takes what was confirmed`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var (browser, thief) = (PageBrowser(server), PageBrowser(server))
            let page = try await browser.showCode(party)
            _ = try await thief.begin(party)
            try await QRPhone(of: ada, at: server).allow(page, in: &browser)
            let asked = try await browser.open(page.path)
            #expect(try await thief.open(page.path).fault == "not_your_request")
            let waited = try await thief.waitForCode(at: page, after: "waiting")
            #expect(waited.status == 404 && waited.code == "QR_NOT_FOUND", "\(waited.text)")
            let taken = try await thief.submit("finish", of: asked)
            #expect(taken.status == 400 && taken.fault == "not_your_request" && thief.sessions == nil)
            // The flow cookie without the form's own field.
            thief.cookies["gatehouse-browser-demo"] = browser.cookies["gatehouse-browser-demo"]
            let forged = try await thief.send(.POST, page.path, form: ["action": "finish", "csrf": "x"])
            #expect(forged.status == 403 && forged.fault == "csrf")
            #expect(try await browser.submit("finish", of: asked).code != nil)
        }
    }

    @Test func `a code of one request opens nothing at another of the same browser`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let (first, second) = (try await browser.showCode(party), try await browser.showCode(party))
            try await QRPhone(of: ada, at: server).allow(first, in: &browser)
            let asked = try await browser.open(first.path)
            #expect(try await browser.open(second.path).state == "waiting")
            let form = try #require(asked.forms.first).fields.merging(["action": "finish"]) { $1 }
            let moved = try await browser.send(.POST, second.path, form: form)
            #expect(moved.code == nil && browser.sessions == nil, "\(moved.status) \(moved.text)")
            #expect(try await browser.submit("finish", of: asked).code != nil)
        }
    }

    @Test func `a new code, going back and the end of the request end the former one`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let phone = QRPhone(of: try await APIClient(server).register(at: server), at: server)
            var browser = PageBrowser(server)
            let party = RelyingParty(server)
            func expectOver(_ page: PageBrowser.View) async throws {
                let answer = try await phone.look(page.qrCode ?? "")
                #expect(answer.status == 410 && answer.code == "QR_EXPIRED", "\(answer.text)")
            }
            let page = try await browser.showCode(party)
            let again = try await browser.send(
                .POST, page.path,
                form: try #require(page.forms.first).fields.merging(["action": "again"]) { $1 })
            #expect(again.qrCode != nil && again.qrCode != page.qrCode)
            try await expectOver(page)
            let back = try await browser.submit("back", of: again)
            #expect(back.step == "signin")
            try await expectOver(again)
            let last = try await browser.submit("qr", of: back)
            #expect(try await browser.open(last.link("cancel") ?? "").returnedError == "access_denied")
            try await expectOver(last)
        }
    }

    @Test func `a code expires, and the page offers another one`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let phone = QRPhone(of: try await APIClient(server).register(at: server), at: server)
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            try await server.age("handoffs", "expires_at", by: "115 seconds")
            #expect(try await phone.look(code).status == 200)
            let rest = try await server.count(
                "SELECT ceil(extract(epoch FROM expires_at - now()))::bigint FROM handoffs")
            #expect((31...60).contains(rest), "a look gives time: \(rest)")
            let number = try #require(try await browser.open(page.path).number)
            try await server.age("handoffs", "expires_at", by: "61 seconds")
            #expect(try await browser.open(page.path).state == "expired")
            for answer in [
                try await phone.look(code), try await phone.confirm(code, .integer(Int64(number))),
                try await phone.refuse(code),
            ] {
                #expect(answer.status == 410 && answer.code == "QR_EXPIRED", "\(answer.text)")
            }
            let again = try await browser.submit("again", of: browser.open(page.path))
            try await phone.allow(again, in: &browser)
            let asked = try await browser.open(page.path)
            try await server.age("handoffs", "expires_at", by: "61 seconds")
            let late = try await browser.submit("finish", of: asked)
            #expect(late.status == 400 && late.state == "expired" && late.problem == "QR_EXPIRED", "\(late.text)")
            #expect(browser.sessions == nil)
        }
    }

    @Test func `what ends the phone's session or account ends the sign-in`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let api = APIClient(server)
            for end in ["logout", "borrowed", "disabled", "deleted"] {
                let ada = try await api.register(at: server)
                var browser = PageBrowser(server)
                let page = try await browser.showCode(RelyingParty(server))
                try await QRPhone(of: ada, at: server).allow(page, in: &browser)
                let asked = try await browser.open(page.path)
                switch end {
                case "logout": #expect(try await api.post("/auth/logout", bearer: ada.accessToken).status == 204)
                case "disabled": try await server.setDisabled(true, ada)
                case "deleted": #expect(try await api.delete("/auth/account", bearer: ada.accessToken).status == 204)
                default:
                    try await server.execute(
                        "UPDATE sessions SET is_borrowed = true WHERE uid = $1", [.uuid(UUID(uuidString: ada.uid))])
                }
                let late = try await browser.submit("finish", of: asked)
                #expect(late.status == 400 && late.problem == "QR_EXPIRED", "\(end): \(late.text)")
                #expect(browser.sessions == nil)
            }
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 0)
        }
    }

    @Test(arguments: ["deleted by the app", "withdrawn by the person"])
    func `an installation that is removed no longer answers, and what it has allowed is nothing`(end: String)
        async throws
    {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            for isConfirmed in [false, true] {
                let (app, registration) = try await RelyingParty(server).install()
                let ada = try await app.api.register(at: server)
                _ = try await app.bind(to: ada)
                let phone = QRPhone(app.api, try await app.credentials("qr")["access_token"].string ?? "")
                var browser = PageBrowser(server)
                let page = try await browser.showCode(RelyingParty(server))
                let code = try #require(page.qrCode)
                #expect(try await phone.look(code).status == 200)
                if isConfirmed { try await phone.allow(page, in: &browser) }
                let asked = try await browser.open(page.path)
                #expect(asked.state == (isConfirmed ? "confirmed" : "scanned"))
                let removed =
                    end == "deleted by the app"
                    ? try await app.manage(.DELETE, registration)
                    : try await app.api.delete("/auth/grants/\(app.client)", bearer: ada.accessToken)
                #expect(removed.status == 204, "\(removed.text)")
                let number = asked.number.map { JSONValue.integer(Int64($0)) }
                for answer in [
                    try await phone.look(code), try await phone.confirm(code, number), try await phone.refuse(code),
                ] {
                    #expect(answer.status == 401 && answer.code == "INVALID_TOKEN", "\(answer.text)")
                }
                guard isConfirmed else {
                    #expect(try await browser.open(page.path).accepts("finish") == false)
                    continue
                }
                let late = try await browser.submit("finish", of: asked)
                #expect(late.status == 400 && late.problem == "QR_EXPIRED", "\(late.text)")
                #expect(browser.sessions == nil)
            }
            #expect(
                try await server.count(
                    "SELECT count(*) FROM sessions WHERE kind = 'browser' AND methods @> '{qr}'") == 0)
        }
    }

    @Test func `guesses are limited by network, known and unknown alike`() async throws {
        try await TestServer.with(
            application: RelyingParty.configuration, rateLimits: "{ qr: 6/h, register: off, general: off }"
        ) { server in
            let phone = QRPhone(of: try await APIClient(server).register(at: server), at: server)
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            #expect(try await phone.look(code).status == 200)
            for _ in 0..<4 { #expect(try await phone.look(UUID().uuidString).code == "QR_NOT_FOUND") }
            for known in [code, UUID().uuidString] {
                for answer in [
                    try await phone.look(known), try await phone.confirm(known, 42), try await phone.refuse(known),
                ] {
                    #expect(answer.status == 429 && answer.code == "RATE_LIMITED" && answer.retryAfter != nil)
                }
            }
            let shown = try await browser.submit("qr", of: browser.begin(RelyingParty(server)))
            #expect(shown.status == 429 && shown.problem == "RATE_LIMITED" && shown.step == "signin")
        }
    }

    // MARK: - Races

    private func atOnce<Answer: Sendable>(
        _ count: Int = 20, _ call: @Sendable @escaping (Int) async throws -> Answer
    ) async throws -> [Answer] {
        try await withThrowingTaskGroup { group in
            for number in 0..<count { group.addTask { try await call(number) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `of twenty phones that look at once, those of one account see it`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let api = APIClient(server)
            let (ada, ben) = (try await api.register(at: server), try await api.register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            let answers = try await atOnce { number in
                try await QRPhone(of: number.isMultiple(of: 2) ? ada : ben, at: server).look(code).status
            }
            #expect(answers.count { $0 == 200 } == 10 && answers.count { $0 == 404 } == 10, "\(answers)")
            #expect(try await browser.open(page.path).number != nil)
        }
    }

    @Test func `of twenty confirmations at once one counts, also against a refusal and a wrong number`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let phone = QRPhone(of: try await APIClient(server).register(at: server), at: server)
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            _ = try await phone.look(code)
            let number = try #require(try await browser.open(page.path).number)
            let answers = try await atOnce { call in
                switch call % 3 {
                case 0: try await phone.confirm(code, .integer(Int64(number))).status
                case 1: try await phone.confirm(code, .integer(Int64(number == 99 ? 10 : number + 1))).status
                default: try await phone.refuse(code).status
                }
            }
            #expect(answers.count { $0 != 409 } == 1 && !Set(answers).isDisjoint(with: [204, 403]), "\(answers)")
            #expect(try await server.count("SELECT count(*) FROM audit_events WHERE event LIKE 'qr.%'") == 1)
        }
    }

    @Test func `of twenty continuations at once one opens a session, and all get its answer`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.showCode(party)
            try await QRPhone(of: ada, at: server).allow(page, in: &browser)
            let asked = try await browser.open(page.path)
            let answers = try await atOnce { [browser] _ in
                var tab = browser
                let view = try await tab.submit("finish", of: asked)
                return (view.code, tab.sessions)
            }
            #expect(Set(answers.map { $0.0 }).count == 1 && answers.first?.0 != nil, "\(answers)")
            #expect(Set(answers.map { $0.1 }).count == 1)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
            #expect(try await server.count("SELECT count(*) FROM outbox WHERE topic = 'qrSignIn'") == 1)
        }
    }
}
