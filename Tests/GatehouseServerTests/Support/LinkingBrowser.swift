import Accounts
import Delivery
import Foundation
import Postgres
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// A person who links identities and merges accounts by clicks alone.
struct LinkingBrowser: Sendable {
    let server: TestServer
    var browser: PageBrowser

    init(_ browser: PageBrowser, at server: TestServer) { (self.browser, self.server) = (browser, server) }

    /// The browser of a person who has just signed in.
    init(of person: Person, at server: TestServer) async throws {
        (self.server, browser) = (server, PageBrowser(server))
        let cookie = try await RelyingParty(server).browser(of: person).split(separator: "=", maxSplits: 1)
        browser.cookies[String(cookie[0])] = String(cookie[1])
    }

    /// Presses the button that adds an identity of the provider.
    mutating func add(_ provider: String) async throws -> PageBrowser.View {
        let page = try await browser.open("/account/identities")
        return try await browser.submit("add", ["provider": provider], of: page)
    }

    /// Asks for a code to an address of the provider, and returns the page that takes it, and the code.
    mutating func askCode(_ provider: String, to address: String) async throws -> (PageBrowser.View, code: String) {
        let known = server.codes(to: address)
        var view = try await add(provider)
        try #require(view.step == "signin", "\(view.text)")
        view = try await browser.submit("code", ["identifier": address], of: view)
        try #require(view.step == "code", "\(view.text)")
        return (view, try await APIClient(server).sentCode(to: address, at: server, other: known))
    }

    /// Links an address, and returns the page that this leads to.
    mutating func link(_ provider: String, _ address: String) async throws -> PageBrowser.View {
        let (view, code) = try await askCode(provider, to: address)
        return try await browser.submit("verify", ["code": code], of: view)
    }

    /// The live session of the browser of this account; `nil` if there is not exactly one.
    func session(of uid: String) async throws -> String? {
        let cookie = try #require(browser.sessions.flatMap(server.backend.opaque.parse))
        return try await server.text(
            """
            SELECT max(id::text) FROM sessions WHERE browser_hash = $1 AND uid = $2 AND ended_at IS NULL
            HAVING count(*) = 1
            """, [.bytes(cookie.hash), .uuid(UUID(uuidString: uid))])
    }
}

extension TestServer {
    /// The codes that were sent to an address so far.
    func codes(to address: String) -> Set<String> {
        Set(
            inbox.messages().filter { $0.to == address }
                .compactMap { $0.text.firstMatch(of: /[0-9]{6}/).map { String($0.output) } })
    }

    /// A person whose only identity is a phone number.
    func caller(_ number: String) async throws -> Person {
        let api = APIClient(self)
        let answer = try await api.post("/auth/phone/otp/verify", .object(api.challenge("phone", number, at: self)))
        return try Person(answer, email: "", password: "")
    }

    func providers(of uid: String) async throws -> String? {
        try await text(
            "SELECT string_agg(provider, ' ' ORDER BY provider) FROM identities WHERE uid = $1",
            [.uuid(UUID(uuidString: uid))])
    }
}
