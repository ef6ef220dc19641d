import Accounts
import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Signing in at a browser by a code that an app on a phone confirms.
struct QRSignInTests {
    @Test func `a phone confirms, and the browser gets in, with a session that nothing was proven in`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            let phone = QRPhone(of: ada, at: server)
            var browser = PageBrowser(server)
            browser.headers = ["user-agent": PageBrowser.desktop]
            let page = try await browser.showCode(party)
            let code = try #require(page.qrCode)
            #expect(page.status == 200 && page.state == "waiting" && page.text.contains("<svg"))
            #expect(page.number == nil && page.text.contains("\(PageBrowser.issuer)/qr?code=\(code)"))
            #expect(!page.path.contains(code), "the code is in no URL of the page")

            let seen = try await phone.look(code)
            #expect(seen.status == 200 && seen["code"].string == code, "\(seen.text)")
            #expect(seen["client"] == ["id": "web", "name": "Photos"])
            #expect(seen["browser"] == "Chrome 109" && seen["os"] == "macOS 10.15.7" && seen["device"] == "PC")
            #expect(seen["deviceType"] == "pc" && seen["address"] == "127.0.0.1" && seen["place"] == .null)
            #expect(seen["sameNetwork"] == true && seen["numberRequired"] == true && seen["expiresAt"].string != nil)
            #expect(
                seen.json.keys == [
                    "code", "client", "browser", "os", "device", "deviceType", "address", "place", "sameNetwork",
                    "numberRequired", "expiresAt",
                ])

            let scanned = try await browser.open(page.path)
            #expect(scanned.state == "scanned" && !scanned.text.contains("<svg") && scanned.qrCode == nil)
            let number = try #require(scanned.number)
            #expect((10...99).contains(number) && !seen.text.contains("\"number\""))
            #expect(try await phone.look(code).status == 200, "the phone may look again")
            let confirmed = try await phone.confirm(code, .integer(Int64(number)))
            #expect(confirmed.status == 204 && confirmed.text == "", "\(confirmed.text)")

            let asked = try await browser.open(page.path)
            #expect(
                asked.state == "confirmed" && asked.text.contains(ada.email) && !asked.text.contains(" data-submit>"))
            #expect(browser.sessions == nil)
            let done = try await browser.submit("finish", ["remember": "1"], of: asked)
            let tokens = try await party.redeem(done.code ?? "")
            #expect(tokens.status == 200, "\(done.text) \(tokens.text)")
            let claims = try DecodedToken(tokens["id_token"].string ?? "").claims
            #expect(claims["sub"].string == ada.uid && claims["amr"] == ["qr"], "\(claims)")
            #expect(
                try await server.count(
                    "SELECT count(*) FROM sessions WHERE kind = 'browser' AND is_borrowed AND idle IS NULL") == 1)
            #expect(try await server.count("SELECT count(*) FROM handoffs WHERE state = 'used'") == 1)
            #expect(try await browser.begin(party, ["prompt": "none"]).code != nil, "the browser is signed in")
            for answer in [try await phone.look(code), try await phone.confirm(code, 10), try await phone.refuse(code)]
            {
                #expect(answer.status == 409 && answer.code == "QR_COMPLETED", "\(answer.text)")
            }
            let mail = try #require(try await APIClient(server).mails(to: ada.email, at: server, count: 2).first)
            #expect(mail.subject?.contains("QR") == true && mail.text.contains("- Chrome 109, macOS 10.15.7"))
            #expect(mail.text.contains("- 127.0.0.1"), "\(mail.text)")
            let metrics = try await APIClient(server).send(.GET, "/metrics").text
            for outcome in ["shown", "confirmed", "used"] {
                #expect(
                    metrics.contains("gatehouse_handoffs_total{kind=\"qr\",outcome=\"\(outcome)\"} 1.0"), "\(metrics)")
            }
        }
    }

    @Test func `a wrong number ends the code, and another one is shown at once`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let phone = QRPhone(of: ada, at: server)
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            #expect(try await phone.look(code).status == 200)
            let number = try #require(try await browser.open(page.path).number)
            for missing in [try await phone.confirm(code), try await phone.confirm(code, "42")] {
                #expect(missing.status == 400, "\(missing.text)")
            }
            #expect(try await browser.open(page.path).state == "scanned", "without a number nothing changes")
            let wrong = try await phone.confirm(code, .integer(Int64(number == 99 ? 10 : number + 1)))
            #expect(wrong.status == 403 && wrong.code == "QR_WRONG_NUMBER", "\(wrong.text)")
            #expect(try await phone.confirm(code, .integer(Int64(number))).code == "QR_COMPLETED")
            let refused = try await browser.open(page.path)
            #expect(refused.state == "refused" && refused.step == "qr" && !refused.accepts("finish"))
            let again = try await browser.submit("again", of: refused)
            #expect(again.state == "waiting" && again.qrCode != nil && again.qrCode != code)
            try await phone.allow(again, in: &browser)
            #expect(try await browser.submit("finish", of: browser.open(page.path)).code != nil)
            let numbers: [JSONValue] = [.integer(0), .integer(.max), .integer(.min)]
            for number in numbers { #expect(try await phone.confirm(code, number).code == "QR_COMPLETED") }
        }
    }

    @Test func `a person refuses, and the audit says where that was asked for`() async throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = "\(directory.path)/places.mmdb"
        try Data(PlaceFileFixture.bytes(network: [127])).write(to: URL(filePath: path))
        try await TestServer.with(
            application: RelyingParty.configuration, network: "allowPrivateHosts: true, geoIP: \"\(path)\""
        ) { server in
            let ada = try await APIClient(server).register(at: server)
            let phone = QRPhone(of: ada, at: server)
            for cause in ["mistake", "unauthorized"] {
                var browser = PageBrowser(server)
                let page = try await browser.showCode(RelyingParty(server))
                let code = try #require(page.qrCode)
                let seen = try await phone.look(code, languages: "de")
                #expect(
                    seen["place"] == [
                        "city": "München", "region": "Bayern", "country": "Deutschland", "latitude": .number(48.1374),
                        "longitude": .number(11.5755), "radius": 20,
                    ], "\(seen.text)")
                #expect(try await phone.refuse(code, "other").status == 400)
                #expect(try await phone.refuse(code, cause, comment: String(repeating: "x", count: 2001)).status == 400)
                let refused = try await phone.refuse(code, cause, comment: "not me")
                #expect(refused.status == 204, "\(refused.text)")
                #expect(try await browser.open(page.path).state == "refused")
                #expect(try await phone.refuse(code, cause).code == "QR_COMPLETED")
            }
            let events = try await server.text(
                "SELECT string_agg(details::text, E'\\n' ORDER BY at) FROM audit_events WHERE event = 'qr.refused'")
            let details = try #require(events).split(separator: "\n")
            #expect(details.count == 2 && details[1].contains("\"cause\": \"unauthorized\""), "\(details)")
            for details in details {
                #expect(details.contains("\"client\": \"web\"") && details.contains("\"country\": \"Germany\""))
                #expect(details.contains(/"network": "[0-9a-f]{64}"/) && !details.contains("127.0.0.1"))
                #expect(!details.contains("not me"))
            }
        }
    }

    @Test func `a client's token with the scope qr answers, another does not`() async throws {
        let configuration = RelyingParty.configuration.replacing(
            "scopes: [openid, profile, email, phone, offline_access]",
            with: "scopes: [openid, profile, email, phone, offline_access, qr]\n      subject: pairwise")
        try await TestServer.with(application: configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            let cookie = try await party.browser(of: ada)
            func token(_ scope: String, _ others: [String: String] = [:]) async throws -> String {
                let code = try await party.code(["scope": scope].merging(others) { $1 }, cookie: cookie)
                return try #require(try await party.redeem(code)["access_token"].string)
            }
            var browser = PageBrowser(server)
            let page = try await browser.showCode(party)
            let code = try #require(page.qrCode)
            for scope in ["openid", "openid profile"] {
                let lacking = try await QRPhone(party.api, token(scope)).look(code)
                #expect(lacking.status == 403 && lacking.code == "INSUFFICIENT_SCOPE", "\(lacking.text)")
            }
            // A token for a resource would let that resource answer.
            let resource = ["resource": "https://api.photos.example"]
            let ofResource = try await QRPhone(party.api, token("qr read", resource)).look(code)
            #expect(ofResource.status == 403, "\(ofResource.text)")
            for scope in ["qr", "openid qr"] {
                let page = try await browser.showCode(party)
                try await QRPhone(party.api, token(scope)).allow(page, in: &browser)
                let done = try await browser.submit("finish", of: browser.open(page.path))
                #expect(try await party.redeem(done.code ?? "").status == 200, "\(done.text)")
                browser = PageBrowser(server)
            }
            #expect(try await party.api.get("/auth/me", bearer: token("qr")).status == 403, "it is for codes alone")
        }
    }

    @Test func `the page that a code leads to names the app, and changes nothing`() async throws {
        let qr = """

              qr: { appLinks: { ios: "https://apps.example/ios?a=1&b=2", android: "https://apps.example/android" } }
            """
        try await TestServer.with(application: RelyingParty.configuration + qr) { server in
            var (browser, phone) = (PageBrowser(server), PageBrowser(server))
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            for _ in 0..<3 {
                let opened = try await phone.open("/qr?code=\(code)")
                #expect(opened.status == 200 && opened.step == "qr-open" && opened.forms.isEmpty)
                #expect(opened.link("ios") == "https://apps.example/ios?a=1&b=2")
                #expect(opened.link("android") == "https://apps.example/android" && !opened.text.contains(code))
            }
            #expect(try await browser.open(page.path).state == "waiting")
            #expect(try await server.count("SELECT count(*) FROM handoffs WHERE state = 'waiting'") == 1)
        }
    }

    @Test func `a configured page is in the picture`() async throws {
        let qr = "\n  qr: { url: \"https://app.example/open?from=web\" }"
        try await TestServer.with(application: RelyingParty.configuration + qr) { server in
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            #expect(page.text.contains("https://app.example/open?from=web&amp;code="), "\(page.text)")
        }
    }

    @Test func `an account of this browser goes on by itself, and a session that was proven stays as it is`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            _ = try await browser.signIn(ada, at: browser.begin(party))
            let former = browser.sessions
            let chooser = try await browser.begin(party, ["prompt": "select_account"])
            var page = try await browser.submit("qr", of: browser.submit("other", of: chooser))
            try await QRPhone(of: ada, at: server).allow(page, in: &browser)
            page = try await browser.open(page.path)
            #expect(page.state == "confirmed" && page.text.contains(" data-submit>"), "\(page.text)")
            let done = try await browser.submit("finish", of: page)
            let tokens = try await party.redeem(done.code ?? "")
            #expect(try DecodedToken(tokens["id_token"].string ?? "").claims["amr"] == ["pwd"], "\(tokens.text)")
            #expect(browser.sessions != former, "the cookie is another one")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE is_borrowed") == 0)
        }
    }

    @Test func `it is offered only where it is on, and where no proof is asked for`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            for parameters in [["prompt": "login"], ["max_age": "60"], ["prompt": "create"]] {
                let page = try await browser.begin(RelyingParty(server), parameters)
                #expect(["signin", "signup"].contains(page.step ?? "") && !page.accepts("qr"), "\(parameters)")
            }
            let signUp = try await browser.begin(RelyingParty(server), ["prompt": "create"])
            #expect(try await browser.open(signUp.path + "?step=signin").accepts("qr") == false)
            #expect(try await browser.open("/signin").accepts("qr"))
        }
        let off = RelyingParty.configuration + "\n  qr: { enabled: false }"
        try await TestServer.with(application: off) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            #expect(page.step == "signin" && !page.accepts("qr"))
            #expect(try await browser.open("/qr?code=x").status == 404)
            let code = UUID().uuidString
            let phone = QRPhone(of: ada, at: server)
            for answer in [try await phone.look(code), try await phone.confirm(code, 42), try await phone.refuse(code)]
            {
                #expect(answer.status == 404 && answer.code == "NOT_FOUND", "\(answer.text)")
            }
        }
    }

    @Test func `the person's own pages are named as the application's`() async throws {
        try await TestServer.with(application: RelyingParty.configuration + "\n  pages: { name: Photo Club }") {
            server in
            let ada = try await APIClient(server).register(at: server)
            let phone = QRPhone(of: ada, at: server)
            var browser = PageBrowser(server)
            let page = try await browser.submit("qr", of: browser.open("/signin"))
            let seen = try await phone.look(page.qrCode ?? "")
            #expect(seen["client"] == ["id": .null, "name": "Photo Club"], "\(seen.text)")
            try await phone.allow(page, in: &browser)
            #expect(try await browser.submit("finish", of: browser.open(page.path)).step == "account")
        }
    }
}
