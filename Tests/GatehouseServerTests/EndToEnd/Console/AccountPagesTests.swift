import Accounts
import Administration
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// The console's pages about accounts: finding one, looking at it, and acting on it.
struct AccountPagesTests {
    private static let base = "/console/demo/accounts"

    private static func page(of person: Person) -> String { "\(base)/\(person.uid)" }

    // MARK: - Finding

    @Test func `an address, a uid and the id of a session find the person, who stays masked`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let sessions = try await client.get("/auth/sessions", bearer: person.accessToken)
            let session = try #require(sessions["sessions"].array?.first?["id"].string)
            for typed in [person.email, "  \(person.email.uppercased()) ", person.uid, session] {
                let found = try await browser.open(Self.base).submit("search", ["q": typed])
                #expect(found.status == 200 && found.alertCode == nil, "\(typed): \(found.text)")
                #expect(found.links.contains { $0.target == Self.page(of: person) }, "\(typed): \(found.text)")
                #expect(found.text.contains(Mask.email(person.email)), "\(typed)")
                #expect(found.form("search")?["q"] == typed, "what was typed is kept")
                #expect(found.path == "\(Self.base)/search" && found.title == "Accounts", "and is nowhere else")
                let elsewhere = found.text.replacing(found.form("search")?.html ?? "", with: "")
                #expect(!elsewhere.contains(person.email), "\(typed)")
            }
        }
    }

    @Test func `the fields of the API are searched as they are`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let person = try await APIClient(server).register(at: server)
            let page = try await browser.open(Self.base)
            let others = ["provider": "email", "providerUid": person.email]
            for fields in [["email": person.email], ["uid": person.uid], ["emailPrefix": person.email]] {
                let found = try await page.submit("search", fields)
                #expect(found.links.contains { $0.target == Self.page(of: person) }, "\(fields): \(found.text)")
            }
            let found = try await page.submit("search-by", others)
            #expect(found.links.contains { $0.target == Self.page(of: person) }, "\(found.text)")
            #expect(found.form("search-by")?["providerUid"] == person.email)
        }
    }

    @Test func `an empty result says what was looked for, and a malformed one keeps it`() async throws {
        try await ConsoleBrowser.with { _, browser in
            let page = try await browser.open(Self.base)
            for (typed, words) in [
                ("nobody@example.com", "No account with this e-mail address"),
                ("+33612345678", "No account with this phone number"),
                (UUID().uuidString, "No account, identity, session, receipt or merge with this id"),
                ("Zyxw", "No account with a name that begins like this.</p>"),
            ] {
                let found = try await page.submit("search", ["q": typed])
                #expect(found.status == 200 && found.text.contains(words), "\(typed): \(found.text)")
            }
            let refused = try await page.submit("search", ["q": "a@"])
            #expect(refused.status == 400 && refused.alertCode == "INVALID_PARAMETER", "\(refused.text)")
            #expect(refused.form("search")?["q"] == "a@" && refused.text.contains("search-q-problem"))
            let short = try await page.submit("search", ["q": "a"])
            #expect(short.status == 400 && short.text.contains("or the beginning of a name"), "\(short.text)")
            #expect(!short.text.contains("namePrefix has"))
        }
    }

    @Test func `an auditor finds nobody by a name, and sees neither acts nor notes`() async throws {
        try await ConsoleBrowser.with(role: .auditor) { server, browser in
            let person = try await APIClient(server).register(at: server)
            let refused = try await browser.open(Self.base).submit("search", ["q": "Ada"])
            #expect(refused.status == 403 && refused.alertCode == "FORBIDDEN", "\(refused.text)")
            let page = try await browser.open(Self.page(of: person))
            #expect(page.status == 200 && page.text.contains("Live.</p>"), "\(page.text)")
            #expect(page.forms.map(\.id) == ["sign-out"] && !page.text.contains("id=\"notes\""))
            #expect(!page.links.contains { $0.target.hasSuffix("/disable") || $0.target.hasSuffix("/unlink") })
        }
    }

    // MARK: - Acting

    @Test func `disabling needs a reason, keeps what was typed, and ends the sessions`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let path = Self.page(of: person) + "/disable"
            let refused = try await browser.submit(path, ["reason.ticket": "T-7", "reason.note": "called <us>"])
            #expect(refused.status == 400 && refused.alertCode == "MISSING_PARAMETER", "\(refused.text)")
            #expect(
                refused.form(path)?["reason.ticket"] == "T-7" && refused.form(path)?["reason.note"] == "called <us>")
            #expect(refused.text.contains("aria-invalid"))
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200, "nothing was done")

            let done = try await refused.submit(path, ["reason.code": "fraud"])
            #expect(done.status == 303 && done.location == Self.page(of: person), "\(done.status) \(done.text)")
            let page = try await done.follow()
            #expect(page.said == "The account is disabled, and its sessions have ended.", "\(page.text)")
            #expect(page.text.contains("Disabled until an administrator enables it"))
            #expect(page.text.contains("Nobody is signed in to this account"))
            #expect(page.text.contains("called &lt;us&gt;"), "the note of the reason")
            let acts = page.links.map(\.target)
            #expect(acts.contains(Self.page(of: person) + "/enable") && !acts.contains(path))
            #expect(try await client.refresh(person.refreshToken).status / 100 == 4)
        }
    }

    @Test func `one session ends by its link, all without an id`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for _ in 0..<2 { #expect(try await client.login(person.email).status == 200) }
            let page = try await browser.open(Self.page(of: person))
            let link = try #require(page.links.first { $0.target.contains("/sessions/end?sessions=") }?.target)
            let path = Self.page(of: person) + "/sessions/end"
            let one = try await browser.open(link).submit(path, ["reason.code": "support"])
            #expect(try await one.follow().said == "Sessions that have ended: 1.")
            let all = try await browser.submit(path, ["reason.code": "support"])
            #expect(try await all.follow().said == "Sessions that have ended: 2.")
        }
    }

    @Test func `roles are those of the form, and an emptied field takes them all away`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let person = try await APIClient(server).register(at: server)
            let path = Self.page(of: person) + "/access"
            let reason = ["reason.code": "person-asked"]
            let given = ["roles": "editor\nmoderator", "claims": #"{"plan":"pro"}"#].merging(reason) { $1 }
            let page = try await browser.submit(path, given).follow()
            #expect(page.said != nil && page.text.contains(">moderator<"), "\(page.text)")

            let form = try #require(try await browser.open(path).form(path))
            #expect(form["roles"] == "editor\nmoderator" && form["claims"]?.contains(#""plan" : "pro""#) == true)
            let emptied = form.filled(["roles": ""].merging(reason) { $1 }) + [("roles", "")]
            let taken = try await browser.post(path, emptied).follow()
            #expect(taken.text.contains("The account has no roles."), "\(taken.text)")
            #expect(taken.text.contains("&quot;plan&quot;"), "the claims stay")
            let other = form.filled(reason).filter { $0.0 != "claims" }
            let kept = try await browser.post(path, other).follow()
            #expect(kept.text.contains("&quot;plan&quot;"), "they were not sent")
            let none = try await browser.post(path, other + [("claims", "")]).follow()
            #expect(!none.text.contains("&quot;plan&quot;"), "\(none.text)")

            // What another administrator has changed since the form was shown stays.
            let stale = try #require(try await browser.open(path).form(path))
            try await server.execute(
                "UPDATE accounts SET roles = '{editor}' WHERE application_id = 1 AND uid = $1",
                [.uuid(UUID(uuidString: person.uid))])
            let typed = ["claims": #"{"plan":"free"}"#].merging(reason) { $1 }
            let changed = try await browser.post(path, stale.filled(typed)).follow()
            #expect(changed.text.contains(">editor<") && changed.text.contains("free"), "\(changed.text)")
        }
    }

    @Test func `erasing needs a deletion and the phrase`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let person = try await APIClient(server).register(at: server)
            let page = Self.page(of: person)
            let live = try await browser.open(page)
            #expect(!live.links.contains { $0.target == page + "/erase" })
            let deleted = try await browser.submit(page + "/delete", ["reason.code": "person-asked"]).follow()
            #expect(deleted.text.contains("Deleted on") && deleted.text.contains("can be restored until"))
            let acts = deleted.links.map(\.target)
            let (erasure, restoration) = (acts.firstIndex(of: page + "/erase"), acts.firstIndex(of: page + "/restore"))
            #expect(try #require(erasure) > #require(restoration), "what is dangerous comes last")
            #expect(!acts.contains(page + "/delete"))

            let form = try await browser.open(page + "/erase")
            #expect(form.text.contains("<code>erase \(person.uid)</code>"), "\(form.text)")
            let refused = try await form.submit(page + "/erase", ["reason.code": "legal", "confirm": "erase"])
            #expect(refused.status == 409 && refused.alertCode == "CONFIRMATION_REQUIRED", "\(refused.text)")
            #expect(refused.form(page + "/erase")?["confirm"] == "erase")
            let done = try await refused.submit(page + "/erase", ["confirm": "erase \(person.uid)"])
            #expect(done.status == 303, "\(done.text)")
            #expect(try await done.follow().said?.hasPrefix("The account is being erased.") == true)
        }
    }

    @Test func `a note with markup is shown as text, and a long one whole on its own page`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let person = try await APIClient(server).register(at: server)
            let page = Self.page(of: person)
            let text = "<b>bold</b> {{csrf}} \u{202E}x " + String(repeating: "y", count: 400) + "end"
            let fields = ["text": text, "reason.code": "support"]
            let shown = try await browser.open(page).submit("notes-add", fields).follow()
            #expect(shown.said == "The note is saved.")
            #expect(shown.text.contains("&lt;b&gt;bold&lt;/b&gt; {{csrf}} U+202Ex"), "\(shown.text)")
            #expect(!shown.text.contains("<b>bold") && !shown.text.contains("yend"))
            let whole = try await browser.open(page + "/notes")
            #expect(whole.text.contains("yend") && !whole.text.contains("<b>bold"))
        }
    }
}
