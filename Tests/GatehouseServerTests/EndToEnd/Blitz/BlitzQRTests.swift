import Accounts
import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The calls with which apps of Blitz answer QR codes.
struct BlitzQRTests {
    /// A browser that shows a QR code, and an app on a phone that somebody has signed in on.
    private struct Scene: Sendable {
        let server: TestServer
        let app: BlitzApp
        let person: Person
        let instance: BlitzApp.Instance
        /// A token that may answer QR codes.
        let token: String
        var desktop: PageBrowser
        var page: PageBrowser.View
        var code: String

        init(_ server: TestServer) async throws {
            (self.server, app) = (server, BlitzApp(server))
            person = try await app.api.register(at: server)
            instance = try await app.signIn(person).instance
            token = try await app.scanningToken(instance)
            desktop = PageBrowser(server)
            desktop.headers.add(name: "user-agent", value: BlitzQRTests.agent)
            (page, code) = try await desktop.showQRCode(of: RelyingParty(server))
        }

        mutating func showAgain() async throws {
            (page, code) = try await desktop.showQRCode(of: RelyingParty(server))
        }

        /// The three calls, by the word that their errors have.
        func calls(_ code: String, _ token: String?) async throws -> KeyValuePairs<String, BlitzApp.Answer> {
            [
                "getting": try await app.look(at: code, token),
                "confirming": try await app.answer(code, .confirm, token),
                "refusing": try await app.answer(code, .refuse(cause: "mistake", comment: "x"), token),
            ]
        }
    }

    private static let agent =
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36"

    private func with(
        software: String = "", openID: String = "", _ body: @Sendable @escaping (inout Scene) async throws -> Void
    ) async throws {
        let configuration = BlitzApp.configuration(software: software, openID: openID)
        try await TestServer.with(application: configuration) { server in
            var scene = try await Scene(server)
            try await body(&scene)
        }
    }

    // MARK: - The walk

    @Test func `the app sees who asks, as texts, and the browser gets in`() async throws {
        try await with { scene in
            let details = try await scene.app.look(at: scene.code, scene.token).decoded(BlitzApp.LoginDetails.self)
            let page = try await scene.desktop.open(scene.page.path)
            #expect(page.text.contains("data-state=\"scanned\""), "\(page.text)")
            let number = try #require(page.text.firstMatch(of: /id="number">([0-9]{2})</)?.output.1)
            #expect(
                details
                    == .init(
                        ip: "127.0.0.1", rpName: "Photos", ipCity: "", browser: "Chrome 109", ipState: "",
                        os: "macOS 10.15.7", ipLng: "", deviceType: "pc", ipLat: "", ipCountry: "", rpId: "web",
                        deviceName: "macOS 10.15.7 · \(number)", ipRadius: "", device: "PC"))
            let again = try await scene.app.look(at: scene.code, scene.token).decoded(BlitzApp.LoginDetails.self)
            #expect(again == details)

            let answer = try await scene.app.answer(scene.code, .confirm, scene.token)
            #expect(answer.status == 204 && answer.text.isEmpty, "\(answer.status) \(answer.text)")
            #expect(answer.headers["cache-control"] == ["no-store"])
            let confirmed = try await scene.desktop.open(scene.page.path)
            #expect(confirmed.text.contains("data-state=\"confirmed\""), "\(confirmed.text)")
            let ended = try await scene.desktop.submit("finish", of: confirmed)
            let tokens = try await RelyingParty(scene.server).redeem(ended.code ?? "")
            let claims = try DecodedToken(tokens["id_token"].string ?? "").claims
            #expect(claims["sub"].string == scene.person.uid && claims["amr"].array == ["qr"], "\(claims)")
        }
    }

    @Test(arguments: ["de", "ru", "en"])
    func `the app sees the place in its language, as texts`(language: String) async throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = "\(directory.path)/places.mmdb"
        try Data(PlaceFileFixture.bytes(network: [127])).write(to: URL(filePath: path))
        try await TestServer.with(
            application: BlitzApp.configuration(), network: "allowPrivateHosts: true, geoIP: \"\(path)\""
        ) { server in
            let scene = try await Scene(server)
            let details = try await scene.app.look(at: scene.code, scene.token, language: language)
                .decoded(BlitzApp.LoginDetails.self)
            // The file has no names in Russian.
            let names =
                language == "de" ? ["München", "Bayern", "Deutschland"] : ["Munich", "Bavaria", "Germany"]
            #expect([details.ipCity, details.ipState, details.ipCountry] == names, "\(details)")
            #expect(details.ip == "127.0.0.1" && details.ipRadius == "20", "\(details)")
            #expect(details.ipLat == "48.1374" && details.ipLng == "11.5755", "\(details)")
        }
    }

    @Test func `the profile has the name that Blitz gives it, and a link below its paths`() async throws {
        try await with { scene in
            var desktop = PageBrowser(scene.server)
            let asked = try await desktop.open("/blitz/profile")
            let (_, code) = try await desktop.showQRCode(at: asked)
            let details = try await scene.app.look(at: code, scene.token).decoded(BlitzApp.LoginDetails.self)
            #expect(details.rpId == "_blitz_profile" && details.rpName == "demo", "\(details)")

            var party = RelyingParty(scene.server)
            party.endpoints = .blitz
            let (page, other) = try await desktop.showQRCode(of: party)
            let link = "\(PageBrowser.issuer)/blitz/login/qr?code=\(other)"
            #expect(page.text.contains(link), "\(page.text)")
            #expect(BlitzApp.code(inLink: link) == other)
        }
    }

    @Test(arguments: ["mistake", "unauthorized"])
    func `a refusal is shown, recorded, and ends the code`(cause: String) async throws {
        try await with { scene in
            #expect(try await scene.app.look(at: scene.code, scene.token).status == 200)
            let comment = String(repeating: "Вход вызван по ошибке ", count: 200)
            let answer = try await scene.app.answer(
                scene.code, .refuse(cause: cause, comment: comment), scene.token)
            #expect(answer.status == 204 && answer.text.isEmpty, "\(answer.status) \(answer.text)")
            let page = try await scene.desktop.open(scene.page.path)
            #expect(page.text.contains("data-state=\"refused\""), "\(page.text)")
            let events = try await scene.server.audited().filter { $0.event == "qr.refused" }
            #expect(events.map { $0.details["cause"].string } == [cause])
            #expect(events.first?.details["network"].string?.isEmpty == false)
        }
    }

    @Test func `another cause is refused, and leaves the code as it is`() async throws {
        try await with { scene in
            #expect(try await scene.app.look(at: scene.code, scene.token).status == 200)
            for cause in ["", "other"] {
                let answer = try await scene.app.answer(
                    scene.code, .refuse(cause: cause, comment: nil), scene.token)
                #expect(answer.status == 400, "\(answer.status) \(answer.text)")
            }
            #expect(try await scene.app.answer(scene.code, .confirm, scene.token).status == 204)
        }
    }

    // MARK: - Errors, byte for byte

    private static func expect(
        _ answer: BlitzApp.Answer, _ status: Int, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == status && answer.text == text, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.headers.first(name: "cache-control") == "no-store", sourceLocation: sourceLocation)
        #expect(
            answer.headers.first(name: "content-type")?.hasPrefix("application/json") == true,
            sourceLocation: sourceLocation)
    }

    private static let invalid =
        #"{"type":"security_error","error":"bad_access_token","desc":"invalid_access_token"}"#
    private static let expired =
        #"{"type":"security_error","error":"bad_access_token","desc":"expired_access_token"}"#
    private static let lacking = #"{"type":"security_error","error":"insufficient_scope","desc":"blitz_qr_auth"}"#

    @Test func `a token that is absent, wrong or of another scope`() async throws {
        try await with { scene in
            let profile = try await scene.app.relogin(scene.instance, scope: "profile")
            let other = try profile.decoded(BlitzApp.ReloginTokens.self).accessToken
            for (token, status, text) in [
                (nil, 401, Self.invalid), ("eyJhb", 401, Self.invalid), (scene.token + "x", 401, Self.invalid),
                (scene.instance.clientSecret, 401, Self.invalid), (other, 403, Self.lacking),
            ] {
                for (_, answer) in try await scene.calls(scene.code, token) { Self.expect(answer, status, text) }
            }
            #expect(try await scene.app.look(at: scene.code, scene.token).status == 200, "nothing has changed")
        }
    }

    @Test func `a token that has expired`() async throws {
        try await with(software: "accessLifetime: 2s") { scene in
            let (app, code, token) = (scene.app, scene.code, scene.token)
            try await eventually("the token expires") { try await app.look(at: code, token).status == 401 }
            for (_, answer) in try await scene.calls(code, token) { Self.expect(answer, 401, Self.expired) }
        }
    }

    @Test func `a code that does not exist, that is malformed, or that another account has looked at`() async throws {
        try await with { scene in
            let other = try await scene.app.scanningToken(
                scene.app.signIn(scene.app.api.register(at: scene.server)).instance)
            #expect(try await scene.app.look(at: scene.code, other).status == 200)
            for code in [UUID().uuidString.lowercased(), "x", scene.code] {
                for (call, answer) in try await scene.calls(code, scene.token) {
                    let text =
                        #"{"params":{},"desc":"Error while \#(call) QR authentication session","error":"qr_session_not_found"}"#
                    Self.expect(answer, 404, text)
                }
            }
            #expect(try await scene.app.answer(scene.code, .confirm, other).status == 204)
        }
    }

    @Test func `a code that has expired`() async throws {
        try await with { scene in
            #expect(try await scene.app.look(at: scene.code, scene.token).status == 200)
            try await scene.server.age("handoffs", "expires_at", by: "10 minutes")
            for (call, answer) in try await scene.calls(scene.code, scene.token) {
                let text =
                    #"{"type":"process_error","error":"qr_session_expired","desc":"Error while \#(call) QR authentication session"}"#
                Self.expect(answer, 410, text)
            }
        }
    }

    @Test func `a code that was answered says so in the words of the first call`() async throws {
        try await with { scene in
            let text =
                #"{"type":"process_error","error":"qr_session_already_completed","desc":"Error while getting QR authentication session"}"#
            for decision in [BlitzApp.Decision.confirm, .refuse(cause: "mistake", comment: nil)] {
                #expect(try await scene.app.look(at: scene.code, scene.token).status == 200)
                #expect(try await scene.app.answer(scene.code, decision, scene.token).status == 204)
                for (_, answer) in try await scene.calls(scene.code, scene.token) { Self.expect(answer, 409, text) }
                try await scene.showAgain()
            }
        }
    }

    @Test func `where the number must be typed, the calls know no code`() async throws {
        try await with(openID: "qr: { number: always }") { scene in
            for (call, answer) in try await scene.calls(scene.code, scene.token) {
                let text =
                    #"{"params":{},"desc":"Error while \#(call) QR authentication session","error":"qr_session_not_found"}"#
                Self.expect(answer, 404, text)
            }
            let looked = try await scene.app.api.get("/auth/qr/\(scene.code)", bearer: scene.token)
            #expect(looked["numberRequired"] == true, "\(looked.text)")
        }
    }

    @Test func `a number that the person must type cannot be left out at the other path`() async throws {
        try await with { scene in
            let phone = QRPhone(scene.app.api, scene.token)
            #expect(try await phone.look(scene.code).status == 200)
            for (call, answer) in [
                ("getting", try await scene.app.look(at: scene.code, scene.token)),
                ("confirming", try await scene.app.answer(scene.code, .confirm, scene.token)),
            ] {
                let text =
                    #"{"params":{},"desc":"Error while \#(call) QR authentication session","error":"qr_session_not_found"}"#
                Self.expect(answer, 404, text)
            }
            let page = try await scene.desktop.open(scene.page.path)
            #expect(page.state == "scanned", "\(page.text)")
            let number = try #require(page.number)
            #expect(try await phone.confirm(scene.code, .integer(Int64(number))).status == 204)

            try await scene.showAgain()
            #expect(try await phone.look(scene.code).status == 200)
            let refusal = BlitzApp.Decision.refuse(cause: "unauthorized", comment: nil)
            #expect(try await scene.app.answer(scene.code, refusal, scene.token).status == 204)
        }
    }

    // MARK: - Races

    @Test func `of twenty answers at once one counts`() async throws {
        try await with { scene in
            let (app, code, token) = (scene.app, scene.code, scene.token)
            #expect(try await app.look(at: code, token).status == 200)
            let statuses = try await atOnce(20) { try await app.answer(code, .confirm, token).status }
            #expect(statuses.count { $0 == 204 } == 1, "\(statuses)")
            #expect(Set(statuses).isSubset(of: [204, 409]), "\(statuses)")
        }
    }
}

extension BlitzApp {
    /// A token of the instance that may answer QR codes.
    func scanningToken(_ instance: Instance) async throws -> String {
        try await relogin(instance, scope: "blitz_qr_auth").decoded(ReloginTokens.self).accessToken
    }

    /// The REST interface of the same server.
    var api: APIClient { APIClient(server) }
}

extension PageBrowser {
    /// Begins a request of the client, and shows a QR code for it.
    mutating func showQRCode(of party: RelyingParty) async throws -> (page: View, code: String) {
        try await showQRCode(at: begin(party))
    }

    /// Shows a QR code at the page of a sign-in.
    mutating func showQRCode(at page: View) async throws -> (page: View, code: String) {
        let shown = try await submit("qr", of: page)
        try #require(shown.step == "qr" && shown.text.contains("data-state=\"waiting\""), "\(shown.text)")
        let code = try #require(shown.text.firstMatch(of: /[?;&]code=([0-9a-f-]{36})/)?.output.1)
        return (shown, String(code))
    }
}
