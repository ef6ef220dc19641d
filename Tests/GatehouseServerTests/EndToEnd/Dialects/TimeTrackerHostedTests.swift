import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The time tracking app, unchanged, whose people sign in at the application's own pages.
struct TimeTrackerHostedTests {
    private static let application = """
        openid: {}
        \(TimeTrackerApp.configuration().replacing("provider: scripted", with: "provider: hosted"))
        """

    private func with(
        _ body: @Sendable @escaping (TestServer, TimeTrackerApp) async throws -> Void
    ) async throws {
        try await TestServer.with(application: Self.application) { server in
            try await body(server, TimeTrackerApp(api: APIClient(server)))
        }
    }

    private func open(_ app: TimeTrackerApp, in browser: inout PageBrowser) async throws -> PageBrowser.View {
        let sent = try await app.login()
        #expect(sent.status == 302, "\(sent.text)")
        return try await browser.open(try #require(sent.headers.first(name: "location")))
    }

    private func session(
        of app: TimeTrackerApp, from view: PageBrowser.View
    ) async throws -> TimeTrackerApp.TokenResponse {
        let target = try #require(view.target.flatMap { URLComponents(string: $0) }, "\(view.text)")
        #expect(target.scheme == "timetracker" && target.query("state")?.isEmpty == false)
        let answer = try await app.exchange(target)
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONDecoder().decode(TimeTrackerApp.TokenResponse.self, from: Data(answer.body))
    }

    @Test func `a sign-in at the pages opens a session of the app`() async throws {
        try await with { server, app in
            let person = try await app.api.register(at: server)
            var browser = PageBrowser(server)
            let done = try await browser.signIn(person, at: open(app, in: &browser))
            let session = try await session(of: app, from: done)
            #expect(session.user.id == person.uid && session.user.email == person.email)
            #expect(try await app.me(session.accessToken).status == 200)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE dialect = 'timetracker'") == 1)
            let target = try #require(done.target.flatMap { URLComponents(string: $0) })
            try await server.age("redirect_flows", "redeemed_at", by: "3 seconds", where: "redeemed_at IS NOT NULL")
            #expect(try await app.exchange(target).status == 400)
            expectFailure(try await app.me(session.accessToken), 401, "Unauthorized", "the code was presented again")
        }
    }

    @Test func `a deleted account is restored at the pages`() async throws {
        try await with { server, app in
            let person = try await app.api.register(at: server)
            _ = try await app.api.deleteAccount(person)
            var browser = PageBrowser(server)
            let restore = try await browser.signIn(person, at: open(app, in: &browser))
            #expect(restore.step == "restore", "\(restore.text)")
            let done = try await browser.submit("restore", of: restore)
            #expect(try await session(of: app, from: done).user.id == person.uid)
        }
    }

    @Test func `an identity that belongs to another account meanwhile is no obstacle at the pages`() async throws {
        try await TestServer.with(application: Self.application, providers: "scripted: {}") { server in
            let app = TimeTrackerApp(api: APIClient(server))
            let person = try await app.api.register(at: server)
            var browser = PageBrowser(server)
            let done = try await browser.linkTooLate(.somebody("ben"), to: person, at: open(app, in: &browser))
            #expect(try await session(of: app, from: done).user.id == person.uid)
        }
    }

    @Test func `a sign-in that a provider alone does not prove is refused, and goes on at the pages`() async throws {
        try await TestServer.with(application: TimeTrackerApp.configuration(), providers: "scripted: {}") { first in
            let app = TimeTrackerApp(api: APIClient(first))
            let (person, _) = try await app.api.victim(at: first, of: "ada")
            let reset = try await app.api.resetPassword(of: person.email, at: first)
            #expect(reset.status == 204, "\(reset.text)")
            let known = try await app.api.present(.somebody("ada"))
            try expectQuarantined(known)
            let refused = try await app.exchange(app.arrive(with: .somebody("ada")))
            expectFailure(refused, 403, known.message)

            // The same app, after the operator has set `provider: hosted`.
            try await TestServer.with(
                database: first.databaseURL, application: Self.application, providers: "scripted: {}"
            ) { second in
                let app = TimeTrackerApp(api: APIClient(second))
                var browser = PageBrowser(second)
                let asked = try await browser.present(.somebody("ada"), at: open(app, in: &browser))
                #expect(asked.step == "second-proof" && asked.problem == "SECOND_PROOF_REQUIRED", "\(asked.text)")
                let done = try await browser.submit(
                    "password", ["identifier": person.email, "password": APIClient.otherPassword], of: asked)
                #expect(try await session(of: app, from: done).user.id == person.uid)
            }
        }
    }
}
