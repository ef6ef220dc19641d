import Accounts
import AsyncHTTPClient
import Foundation
import NIOHTTP1
import OpenID
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// The page waits without a database connection, and every replica wakes it.
struct QRWaitingTests {
    @Test func `the page is told each state at once, and waits only for the one that it shows`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let phone = QRPhone(of: try await APIClient(server).register(at: server), at: server)
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let code = try #require(page.qrCode)
            for shown in [nil, "scanned", "x"] {
                let state = try await browser.waitForCode(at: page, after: shown)
                #expect(state.status == 200 && state.json == ["state": "waiting"], "\(state.text)")
                #expect(state.headers.first(name: "cache-control") == "no-store")
                #expect(state.headers.first(name: "access-control-allow-origin") == nil)
            }
            let tab = browser
            async let scanned = tab.waitForCode(at: page, after: "waiting")
            try await waiting(1, at: server)
            _ = try await phone.look(code)
            let number = try #require(try await browser.open(page.path).number)
            #expect(try await scanned.json == ["state": "scanned", "number": .integer(Int64(number))])
            async let confirmed = tab.waitForCode(at: page, after: "scanned")
            try await waiting(1, at: server)
            _ = try await phone.confirm(code, .integer(Int64(number)))
            #expect(try await confirmed.json == ["state": "confirmed"])
            async let used = tab.waitForCode(at: page, after: "confirmed")
            try await waiting(1, at: server)
            _ = try await browser.submit("finish", of: browser.open(page.path))
            // The request ends right after its code is used.
            let last = try await used
            #expect(last.json == ["state": "used"] || last.status == 404, "\(last.text)")
            try await waiting(0, at: server)
            #expect(try await browser.waitForCode(at: page, after: "waiting").status == 404)
        }
    }

    @Test func `a phone confirms at one replica, while the browser waits at the other`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { first in
            // Before the other replica starts, which would send the mail as well.
            let (party, ada) = (RelyingParty(first), try await APIClient(first).register(at: first))
            try await TestServer.with(database: first.databaseURL, application: RelyingParty.configuration) { second in
                let phone = QRPhone(of: ada, at: second)
                var browser = PageBrowser(first)
                let page = try await browser.showCode(party)
                let code = try #require(page.qrCode)
                let tab = browser
                async let scanned = tab.waitForCode(at: page, after: "waiting")
                try await waiting(1, at: first)
                #expect(second.server.waiters.count == 0)
                #expect(try await phone.look(code).status == 200)
                let number = try #require(try await scanned["number"].integer)
                async let confirmed = tab.waitForCode(at: page, after: "scanned")
                try await waiting(1, at: first)
                #expect(try await phone.confirm(code, .integer(number)).status == 204)
                #expect(try await confirmed["state"] == "confirmed")
                let done = try await browser.submit("finish", of: browser.open(page.path))
                #expect(try await party.redeem(done.code ?? "").status == 200, "\(done.text)")
            }
        }
    }

    @Test func `a page whose code expires is told, although nothing happens`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            try await server.age("handoffs", "expires_at", by: "119 seconds")
            #expect(try await browser.waitForCode(at: page, after: "waiting")["state"] == "expired")
        }
    }

    @Test func `a browser that goes away no longer counts as waiting`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let waited = Task { [browser] in try await browser.waitForCode(at: page, after: "waiting") }
            try await waiting(1, at: server)
            waited.cancel()
            try await waiting(0, at: server)
        }
    }

    @Test func `a server that shuts down does not wait for its pages`() async throws {
        let (waited, began) = try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            let began = ContinuousClock.now
            let waited = Task { [browser] in try await browser.waitForCode(at: page, after: "waiting") }
            try await waiting(1, at: server)
            return (waited, began)
        }
        // Otherwise the server ends after the page's longest wait.
        #expect(ContinuousClock.now - began < .seconds(25))
        _ = try? await waited.value
    }

    @Test func `waiting pages hold no connection to the database`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var connections = APIClient.configuration
            connections.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 200
            let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: connections)
            // Also if the test fails: a client that is not shut down ends the process.
            defer { Task { try await http.shutdown() } }
            let pages = 100
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<pages {
                    var browser = PageBrowser(server, by: http)
                    let page = try await browser.showCode(RelyingParty(server))
                    group.addTask { [browser] in try await waitAsPage(browser, at: page) }
                }
                try await waiting(pages, at: server)
                try await eventually("the connections to the database, of which there are eight, are idle") {
                    let statistics = server.backend.database.statistics
                    return statistics.inFlight == 0 && statistics.waiting == 0
                }
                #expect(try await APIClient(server).get("/auth/me", bearer: ada.accessToken).status == 200)
                let metrics = try await APIClient(server).send(.GET, "/metrics").text
                #expect(metrics.contains("gatehouse_handoffs_waiting \(pages).0"))
                try await server.execute("UPDATE handoffs SET state = 'refused'")
                server.server.waiters.wakeAll()
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func `beyond ten thousand waiting pages, the others reload themselves`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (application, waiters) = (try await server.application().id, server.server.waiters)
            var browser = PageBrowser(server)
            let page = try await browser.showCode(RelyingParty(server))
            for _ in 0..<10_000 { #expect(waiters.begin(UUID(), application: application) != nil) }
            let refused = try await browser.waitForCode(at: page, after: "waiting")
            #expect(refused.status == 503 && refused.code == "OVERLOADED" && refused.retryAfter == 3, "\(refused.text)")
            #expect(try await browser.waitForCode(at: page, after: "scanned").json == ["state": "waiting"])
            #expect(
                try await browser.open(page.path).text.contains("<noscript><meta http-equiv=\"refresh\" content=\"3\">")
            )
        }
    }

    @Test func `beyond eight tabs that wait for one code, the others reload themselves`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var connections = APIClient.configuration
            connections.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 20
            let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: connections)
            // Also if the test fails: a client that is not shut down ends the process.
            defer { Task { try await http.shutdown() } }
            var (browser, other) = (PageBrowser(server, by: http), PageBrowser(server, by: http))
            let (page, free) = (
                try await browser.showCode(RelyingParty(server)), try await other.showCode(RelyingParty(server))
            )
            try await withThrowingTaskGroup(of: Int.self) { [browser, other] group in
                for _ in 0..<8 { group.addTask { try await waitAsPage(browser, at: page) } }
                try await waiting(8, at: server)
                let refused = try await browser.waitForCode(at: page, after: "waiting")
                #expect(refused.status == 503 && refused.code == "OVERLOADED", "\(refused.text)")
                group.addTask { try await waitAsPage(other, at: free) }
                try await waiting(9, at: server)
                try await server.execute("UPDATE handoffs SET state = 'refused'")
                server.server.waiters.wakeAll()
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    // MARK: -

    /// Waits again, as the page does, when a wait ends without a change: the server wakes all pages whenever it may have
    /// missed one.
    private func waitAsPage(_ browser: PageBrowser, at page: PageBrowser.View) async throws -> Int {
        while true {
            let answer = try await browser.waitForCode(at: page, after: "waiting")
            guard answer["state"] == "waiting" else { return answer.status }
        }
    }

    private func waiting(_ count: Int, at server: TestServer) async throws {
        try await eventually("\(count) pages wait") { server.server.waiters.count == count }
    }
}
