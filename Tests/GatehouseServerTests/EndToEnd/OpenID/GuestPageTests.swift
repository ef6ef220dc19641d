import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// What a guest can do at the pages: become permanent, or go on with an account that they have already.
struct GuestPageTests {
    private static let number = "+33612345678"

    private func with(_ body: @Sendable @escaping (TestServer) async throws -> Void) async throws {
        try await TestServer.with(
            application: RelyingParty.configuration, providers: "phone: { enabled: true }", body)
    }

    /// The browser of a guest who has proven the number of another account.
    private func conflict(
        _ body: @Sendable @escaping (TestServer, LinkingBrowser, PageBrowser.View, Person, Person) async throws -> Void
    ) async throws {
        try await with { server in
            let caller = try await server.caller(Self.number)
            let guest = try await APIClient(server).guest()
            var visitor = try await LinkingBrowser(of: guest, at: server)
            let view = try await visitor.link("phone", Self.number)
            try #require(view.step == "conflict", "\(view.text)")
            try await body(server, visitor, view, guest, caller)
        }
    }

    @Test(arguments: [1, 2])
    func `a guest becomes permanent, in the same session`(times: Int) async throws {
        try await with { server in
            let guest = try await APIClient(server).guest()
            var visitor = try await LinkingBrowser(of: guest, at: server)
            try await server.letPass(.seconds(4000))
            let session = try await visitor.session(of: guest.uid)
            let (page, code) = try await visitor.askCode("phone", to: Self.number)
            for _ in 1...times {
                var copy = visitor.browser
                let view = try await copy.submit("verify", ["code": code], of: page)
                #expect(view.status == 200 && view.path == "/account/identities", "\(view.path) \(view.text)")
                if times == 1 { visitor.browser = copy }
                let after = LinkingBrowser(copy, at: server)
                #expect(try await after.session(of: guest.uid) == session)
            }
            #expect(try await server.providers(of: guest.uid) == "phone")
            #expect(try await server.liveSessions(of: guest.uid) == 1, "the guest's other sessions have ended")
        }
    }

    @Test func `a guest may keep everything, and stays a guest`() async throws {
        try await conflict { server, visitor, view, guest, caller in
            var visitor = visitor
            #expect(view.forms.map(\.actions) == [["switch", "merge", "keep"]], "\(view.text)")
            #expect(view.text.contains("<p class=\"who\"><strong>Guest</strong></p>"), "\(view.text)")
            let kept = try await visitor.browser.submit("keep", of: view)
            #expect(kept.path == "/account/identities" && kept.status == 200, "\(kept.text)")
            #expect(try await server.providers(of: guest.uid) == "anonymous")
            #expect(try await visitor.session(of: guest.uid) != nil)
        }
    }

    @Test(arguments: [1, 2])
    func `a guest goes on with the other account, and is erased`(times: Int) async throws {
        try await conflict { server, visitor, view, guest, caller in
            for _ in 1...times {
                var after = visitor
                let done = try await after.browser.submit("switch", of: view)
                #expect(done.status == 200 && done.path == "/account/identities", "\(done.path) \(done.text)")
                #expect(done.text.contains(Self.number))
                #expect(try await after.session(of: caller.uid) != nil, "nothing is proven twice")
                #expect(try await after.session(of: guest.uid) == nil)
            }
            #expect(try await server.providers(of: caller.uid) == "phone")
            #expect(try await server.liveSessions(of: guest.uid) == 0)
            #expect(
                try await server.count(
                    """
                    SELECT count(*) FROM accounts WHERE uid = $1 AND deleted_at IS NOT NULL
                       AND purge_after <= now() + interval '60 seconds'
                    """, [.uuid(UUID(uuidString: guest.uid))]) == 1)
            #expect(
                try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser' AND ended_at IS NULL") == 1
            )
        }
    }

    @Test func `a guest that is merged moves into the account, and an undo brings it back`() async throws {
        try await conflict { server, visitor, view, guest, caller in
            var visitor = visitor
            let page = try await visitor.browser.submit("merge", of: view)
            #expect(page.step == "merge" && page.text.contains("value=\"other\" checked"), "\(page.text)")
            #expect(page.text.contains("<strong>Guest</strong>"), "\(page.text)")
            let done = try await visitor.browser.submit("merge", ["survivor": "other"], of: page)
            #expect(done.path == "/account/identities" && done.text.contains(Self.number), "\(done.text)")
            #expect(try await server.providers(of: caller.uid) == "phone")
            #expect(
                try await server.count(
                    "SELECT count(*) FROM accounts WHERE uid = $1 AND absorbed_by = $2",
                    [.uuid(UUID(uuidString: guest.uid)), .uuid(UUID(uuidString: caller.uid))]) == 1)
            let merges = try await visitor.browser.open("/account/merges")
            #expect(try await visitor.browser.submit("undo", of: merges).status == 200)
            #expect(try await server.providers(of: guest.uid) == "anonymous")
        }
    }

    @Test func `only a guest is given up`() async throws {
        try await with { server in
            _ = try await server.caller(Self.number)
            let person = try await APIClient(server).register(at: server)
            var visitor = try await LinkingBrowser(of: person, at: server)
            let view = try await visitor.link("phone", Self.number)
            let refused = try await visitor.browser.send(
                .POST, view.path, form: ["action": "switch", "csrf": view.forms[0].fields["csrf"] ?? ""])
            #expect(refused.status == 400 && refused.problem == "INVALID_TOKEN", "\(refused.text)")
            #expect(try await server.providers(of: person.uid) == "email")
            #expect(try await visitor.session(of: person.uid) != nil)
        }
    }
}
