import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Two accounts that become one at the pages, and part again.
struct MergePageTests {
    private static let number = "+33612345678"

    /// A person with an address and a name, one with a number and another name, and the browser of the first, who has
    /// proven the number.
    private func conflict(
        _ body: @Sendable @escaping (TestServer, LinkingBrowser, PageBrowser.View, Person, Person) async throws -> Void
    ) async throws {
        try await TestServer.with(application: RelyingParty.configuration, providers: "phone: { enabled: true }") {
            server in
            let api = APIClient(server)
            let (ada, caller) = (try await api.register(at: server), try await server.caller(Self.number))
            for (person, name) in [(ada, "Ada"), (caller, "Ada L.")] {
                let named = try await api.patch(
                    "/auth/me", ["displayName": .string(name), "metadata": ["theme": .string("of \(name)")]],
                    bearer: person.accessToken)
                try #require(named.status == 200, "\(named.text)")
            }
            var visitor = try await LinkingBrowser(of: ada, at: server)
            let view = try await visitor.link("phone", Self.number)
            try #require(view.step == "conflict", "\(view.text)")
            try await body(server, visitor, view, ada, caller)
        }
    }

    @Test func `the page of a conflict says why, and keeps everything if the person wants that`() async throws {
        try await conflict { server, visitor, view, ada, caller in
            var visitor = visitor
            #expect(view.status == 200 && view.forms.map(\.actions) == [["merge", "keep"]], "\(view.text)")
            #expect(view.text.contains("belongs to another account") && !view.text.contains(caller.uid))
            #expect(!view.text.contains("POST /auth"), "remedies are for people")
            #expect(try await visitor.browser.open(view.path).step == "conflict", "a reload changes nothing")
            let kept = try await visitor.browser.submit("keep", of: view)
            #expect(kept.path == "/account/identities", "\(kept.path)")
            #expect(try await server.providers(of: ada.uid) == "email")
            #expect(try await server.providers(of: caller.uid) == "phone")
            #expect(try await visitor.browser.open(view.path).fault == "request_over")
        }
    }

    @Test(arguments: ["current", "other"])
    func `a merge is described in words, carried out, and undone`(survivor: String) async throws {
        try await conflict { server, visitor, view, ada, caller in
            var visitor = visitor
            let former = try await visitor.session(of: ada.uid)
            let page = try await visitor.browser.submit("merge", of: view)
            #expect(page.status == 200 && page.step == "merge" && page.forms.map(\.actions) == [["merge", "keep"]])
            #expect(page.text.matches(of: /name="survivor" type="radio" value="(current|other)"/).count == 2)
            for text in ["“Ada” stays, “Ada L.” does not", "“Ada L.” stays, “Ada” does not", Self.number, ada.email] {
                #expect(page.text.contains(text), "\(text): \(page.text)")
            }
            #expect(
                page.text.contains("theme: “of Ada” stays") && page.text.contains("undo this in your account until"))
            #expect(!page.text.contains(caller.uid) && page.text.utf8.count <= 24 * 1024)

            let (kept, gone) = survivor == "current" ? (ada, caller) : (caller, ada)
            let done = try await visitor.browser.submit("merge", ["survivor": survivor], of: page)
            #expect(done.status == 200 && done.path == "/account/identities", "\(done.path) \(done.text)")
            #expect(try await server.providers(of: kept.uid) == "email phone")
            let session = try await visitor.session(of: kept.uid)
            #expect(session != nil && (session == former) == (survivor == "current"))
            #expect(try await server.count("SELECT count(*) FROM merges WHERE undone_at IS NULL") == 1)

            let merges = try await visitor.browser.open("/account/merges")
            let undone = try await visitor.browser.submit("undo", of: merges)
            #expect(undone.status == 200 && undone.path.hasPrefix("/account/merges"), "\(undone.text)")
            #expect(try await server.providers(of: ada.uid) == "email")
            #expect(try await server.providers(of: caller.uid) == "phone")
            #expect(
                try await server.count(
                    "SELECT count(*) FROM accounts WHERE uid = $1 AND absorbed_by IS NULL",
                    [.uuid(UUID(uuidString: gone.uid))]) == 1)
        }
    }

    @Test(arguments: [false, true], ["current", "other"])
    func `a merge that is sent twice happens once, and both answers lead to the account`(
        isAtOnce: Bool, survivor: String
    ) async throws {
        try await conflict { server, visitor, view, ada, caller in
            var visitor = visitor
            // A merge does not prove the account that stays again.
            try await server.age("sessions", "authenticated_at", by: "100 seconds", where: "kind = 'browser'")
            let page = try await visitor.browser.submit("merge", of: view)
            let answers = try await visitor.browser.twice(
                "merge", ["survivor": survivor], of: page, isAtOnce: isAtOnce)
            for (view, after) in answers {
                #expect(view.status == 200 && view.path == "/account/identities", "\(view.path) \(view.text)")
                #expect(after.sessions == answers[0].browser.sessions)
            }
            #expect(try await server.count("SELECT count(*) FROM merges") == 1)
            #expect(try await server.providers(of: survivor == "current" ? ada.uid : caller.uid) == "email phone")
        }
    }

    @Test func `a ticket that has expired ends the conflict, and a merge wants a recent sign-in`() async throws {
        try await conflict { server, visitor, view, ada, caller in
            var visitor = visitor
            let page = try await visitor.browser.submit("merge", of: view)
            try await server.age("sessions", "authenticated_at", by: "400 seconds", where: "kind = 'browser'")
            let old = try await visitor.browser.submit("merge", ["survivor": "current"], of: page)
            #expect(old.step == "reauthenticate", "\(old.text)")
            let again = try await visitor.browser.submit("password", ["password": ada.password], of: old)
            #expect(again.step == "merge", "the ticket is of the browser's session, which goes on: \(again.text)")
            let odd = try await visitor.browser.submit("merge", ["survivor": "both"], of: again)
            #expect(odd.status == 400 && odd.step == "merge" && odd.problem == "INVALID_PARAMETER")

            try await server.age("proofs", "expires_at", by: "301 seconds", where: "kind = 'merge'")
            let shown = try await visitor.browser.open(page.path)
            #expect(shown.step == "conflict" && shown.problem == "INVALID_TOKEN", "\(shown.text)")
            #expect(shown.forms.map(\.actions) == [["keep"]])
            let expired = try await visitor.browser.submit("merge", ["survivor": "current"], of: again)
            #expect(expired.status == 400 && expired.step == "signin" && expired.problem == "INVALID_TOKEN")
            #expect(try await server.providers(of: ada.uid) == "email")
            #expect(try await server.count("SELECT count(*) FROM merges") == 0)
        }
    }

    @Test func `a conflict is nothing to another browser, and its ticket is nowhere on the pages`() async throws {
        try await conflict { server, visitor, view, ada, caller in
            var (visitor, other) = (visitor, try await LinkingBrowser(of: caller, at: server))
            #expect(try await other.browser.open(view.path).fault == "not_your_request")
            let forged = try await other.browser.send(
                .POST, view.path, form: ["action": "merge", "csrf": view.forms[0].fields["csrf"] ?? ""])
            #expect(forged.fault == "not_your_request")
            let page = try await visitor.browser.submit("merge", of: view)
            for shown in [view, page] {
                let fields = Set(shown.forms.flatMap { $0.fields.keys })
                #expect(fields.isSubset(of: ["csrf", "survivor"]), "\(fields)")
            }
        }
    }
}
