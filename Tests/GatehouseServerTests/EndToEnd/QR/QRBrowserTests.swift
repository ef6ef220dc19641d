import Foundation
import OpenID
import ProviderKit
import Testing

@testable import GatehouseServer

/// zbar, which reads pictures as phones do.
private enum Zbar {
    static let path = "/usr/bin/zbarimg"
    static var isInstalled: Bool { NeededProgram.isExpected(path) }

    /// The texts of the codes in a picture.
    static func texts(in picture: Data) throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).png")
        try picture.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: path)
        process.arguments = ["--quiet", "--raw", file.path]
        (process.standardOutput, process.standardError) = (output, Pipe())
        try process.run()
        let read = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: read, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

/// The page with a code in a real browser: a scanner reads its picture, and the page follows what the phone does.
@Suite(
    .enabled(
        if: Chromium.isInstalled && Zbar.isInstalled, "Debian's packages chromium and zbar-tools are not installed"))
struct QRBrowserTests {
    private func scan(_ browser: Chromium) async throws -> [String] {
        let shot = try await browser.call(
            "Page.captureScreenshot", ["format": "png", "captureBeyondViewport": true])["data"].string
        return try Zbar.texts(in: try #require(shot.flatMap { Data(base64Encoded: $0) }))
    }

    private static func place(_ party: RelyingParty) -> String {
        "\(PageBrowser.issuer)/oauth/authorize?\(RelyingParty.encoded(party.parameters()))"
    }

    private func show(_ browser: Chromium, _ party: RelyingParty) async throws -> String {
        try await browser.open(Self.place(party))
        try await browser.wait(for: "signin")
        try await browser.press("qr")
        try await wait(for: "waiting", in: browser)
        // The browser may not have painted the page yet.
        var link: String?
        for _ in 0..<20 where link == nil { link = try await scan(browser).first }
        return try #require(link.flatMap { URLComponents(string: $0)?.query("code") }, "\(link ?? "unreadable")")
    }

    private func wait(for state: String, in browser: Chromium) async throws {
        try await browser.wait(until: "document.querySelector('main')?.dataset.state === '\(state)'")
    }

    private func number(_ browser: Chromium) async throws -> JSONValue {
        .integer(
            try #require(
                try await browser.evaluate("Number(document.getElementById('number').innerText)").integer))
    }

    @Test(arguments: [(1280, false), (320, true)])
    func `a scanner reads the picture, on light and on dark ground, on a wide and on a narrow screen`(
        width: Int, isDark: Bool
    ) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            try await Chromium.with(server) { browser in
                _ = try await browser.call(
                    "Emulation.setDeviceMetricsOverride",
                    ["width": .integer(Int64(width)), "height": 900, "deviceScaleFactor": 1, "mobile": false])
                let scheme: JSONValue = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
                _ = try await browser.call("Emulation.setEmulatedMedia", ["features": [scheme]])
                let code = try await show(browser, RelyingParty(server))
                let link = try await browser.evaluate("document.getElementById('url').innerText").string
                #expect(link == "\(PageBrowser.issuer)/qr?code=\(code)")
                #expect(try await scan(browser) == [link])
                #expect(browser.blocked.isEmpty, "\(browser.blocked)")
            }
        }
    }

    @Test func `the page follows the phone by itself, and an account that was here before goes on without a press`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            let phone = QRPhone(of: ada, at: server)
            try await Chromium.with(server) { browser in
                let code = try await show(browser, party)
                #expect(try await phone.look(code).status == 200)
                try await wait(for: "scanned", in: browser)
                #expect(try await scan(browser) == [], "the picture is gone")
                #expect(try await phone.confirm(code, number(browser)).status == 204)
                try await wait(for: "confirmed", in: browser)
                #expect(try await browser.evaluate("document.body.innerText.includes('\(ada.email)')") == true)
                try await browser.press("finish")
                #expect(try await browser.leave(to: party.redirectURI).contains("code="))

                // Once more, after the session here has expired.
                try await server.execute(
                    "UPDATE sessions SET expires_at = now() - interval '1 minute' WHERE kind = 'browser'")
                let second = try await show(browser, party)
                #expect(try await phone.look(second).status == 200)
                try await wait(for: "scanned", in: browser)
                #expect(try await phone.confirm(second, number(browser)).status == 204)
                #expect(try await browser.leave(to: party.redirectURI).contains("code="))
                #expect(browser.blocked.isEmpty, "\(browser.blocked)")
            }
        }
    }

    @Test func `without scripts, the page reloads itself until the person goes on`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            let phone = QRPhone(of: ada, at: server)
            try await Chromium.with(server) { browser in
                try await browser.disableScripts()
                let code = try await show(browser, party)
                #expect(try await phone.look(code).status == 200)
                try await wait(for: "scanned", in: browser)
                #expect(try await phone.confirm(code, number(browser)).status == 204)
                try await wait(for: "confirmed", in: browser)
                try await browser.press("finish")
                #expect(try await browser.leave(to: party.redirectURI).contains("code="))
                #expect(server.server.waiters.count == 0 && browser.blocked.isEmpty)
            }
        }
    }

    @Test func `a refusal and a wrong number are shown, and another code works at once`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            let phone = QRPhone(of: ada, at: server)
            try await Chromium.with(server) { browser in
                var code = try await show(browser, party)
                #expect(try await phone.look(code).status == 200)
                #expect(try await phone.refuse(code, "unauthorized").status == 204)
                try await wait(for: "refused", in: browser)
                try await browser.press("again")
                try await wait(for: "waiting", in: browser)
                let link = try #require(try await scan(browser).first)
                code = try #require(URLComponents(string: link)?.query("code"))
                #expect(try await phone.look(code).status == 200)
                try await wait(for: "scanned", in: browser)
                let wrong = try await number(browser) == 10 ? 11 : 10
                #expect(try await phone.confirm(code, .integer(Int64(wrong))).code == "QR_WRONG_NUMBER")
                try await wait(for: "refused", in: browser)
                try await browser.press("back")
                try await browser.wait(for: "signin")
            }
        }
    }
}
