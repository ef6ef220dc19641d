import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The pages in a real browser, which enforces cookies, the content security policy and `form-action`.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct RealBrowserTests {
    @Test func `a person signs in, is known to a second client, consents, comes back and signs out`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (web, gallery) = (RelyingParty(server), RelyingParty.public(server))
            let ada = try await web.api.register(at: server)
            try await Chromium.with(server) { browser in
                try await browser.open(Self.place(web))
                try await browser.wait(for: "signin")
                try await browser.type(ada.email, into: "identifier")
                try await browser.type("wrong horse", into: "password")
                try await browser.press("password")
                try await browser.wait(until: "document.getElementById('problem')")
                #expect(try await Self.problem(browser) == "INVALID_CREDENTIALS")
                #expect(try await browser.evaluate("document.activeElement.id") == "password")
                try await browser.type(ada.password, into: "password")
                try await browser.press("password")
                try await Self.expectTokens(for: ada, of: web, in: browser)

                // A second client: the person is known, and is only asked for consent.
                try await browser.open(Self.place(gallery))
                try await browser.wait(for: "consent")
                #expect(
                    try await browser.evaluate("document.querySelector('main').innerText.includes('Gallery')") == true)
                try await browser.press("allow")
                try await Self.expectTokens(for: nil, of: gallery, in: browser)

                // Both are silent now.
                for party in [web, gallery] {
                    try await browser.open(Self.place(party, ["prompt": "none"]))
                    #expect(try await browser.leave(to: party.redirectURI).contains("code="))
                    try await browser.open("about:blank")
                }

                // Signing out without a hint asks first.
                try await browser.open("\(PageBrowser.issuer)/oauth/logout")
                try await browser.wait(for: "signout")
                try await browser.press("signout")
                try await browser.wait(for: "signed-out")
                try await browser.open(Self.place(web, ["prompt": "none"]))
                #expect(try await browser.leave(to: web.redirectURI).contains("error=login_required"))
            }
        }
    }

    @Test func `without scripts, a person opens an account and changes it, and the browser blocks nothing`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let address = APIClient.newAddress()
            try await Chromium.with(server) { browser in
                try await browser.disableScripts()
                try await browser.open("\(PageBrowser.issuer)/signup")
                try await browser.wait(for: "signup")
                try await browser.type(address, into: "identifier")
                try await browser.press("code")
                try await browser.wait(for: "code")
                try await browser.type(server.mailedCode(to: address), into: "code")
                try await browser.press("verify")
                try await browser.wait(for: "welcome")
                try await browser.type("Ada", into: "displayName")
                try await browser.press("save")
                try await browser.wait(for: "account")
                for section in ["name", "identities", "sessions", "data"] {
                    try await browser.follow("/account/\(section)")
                    try await browser.wait(for: "account-\(section)")
                    try await browser.follow("/account")
                    try await browser.wait(for: "account")
                }
                try await browser.follow("/account/name")
                try await browser.wait(for: "account-name")
                try await browser.type("Countess ", into: "displayName")
                try await browser.press("save")
                try await browser.wait(until: "document.querySelector('.who').innerText.includes('Countess')")
                #expect(browser.blocked == [])
            }
        }
    }

    private static func place(_ party: RelyingParty, _ others: [String: String] = [:]) -> String {
        "\(PageBrowser.issuer)/oauth/authorize?\(RelyingParty.encoded(party.parameters(others)))"
    }

    private static func problem(_ browser: Chromium) async throws -> String? {
        try await browser.evaluate("document.getElementById('problem')?.dataset.code").string
    }

    /// Waits until the browser is at the client with a code, and redeems the code.
    private static func expectTokens(
        for person: Person?, of party: RelyingParty, in browser: Chromium
    ) async throws {
        let address = try await browser.leave(to: party.redirectURI)
        let code = URLComponents(string: address)?.query("code") ?? ""
        let tokens = try await party.redeem(code)
        #expect(tokens.status == 200, "\(address) \(tokens.text)")
        guard let person else { return }
        #expect(try DecodedToken(tokens["id_token"].string ?? "").claims["sub"].string == person.uid)
    }
}
