import Accounts
import Administration
import Delivery
import Foundation
import HTTPAPI
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Links that make administrators, from the command's output to the role.
struct ClaimTests {
    @Test func `a link is looked at any number of times, used once, and every owner is told`() async throws {
        try await ClaimServer.with { claims in
            let ada = try await claims.register()
            let link = try await claims.link()
            let grants = try await claims.grants()
            // A program that scans mail opens the link, and no cookie comes of it.
            var scanner = PageBrowser(claims.server)
            for _ in 0..<2 {
                let page = try await scanner.open(link)
                #expect(page.status == 200 && page.plainText.contains("invited to be owner of all applications"))
            }
            #expect(scanner.cookies.isEmpty)

            var browser = PageBrowser(claims.server)
            let offer = try await browser.accept(link, as: ada)
            #expect(offer.plainText.contains("Become owner of all applications as \(Mask.email(ada.email))"))
            #expect(!offer.text.contains(ada.email))
            #expect(try await grants.list().isEmpty, "looking at the offer changes nothing")

            let events = try await claims.server.audited {
                let done = try await browser.claim(offer)
                #expect(done.status == 200 && done.path == "/console/demo", "\(done.status) \(done.text)")
                #expect(done.text.contains("You are an administrator now."))
            }
            #expect(events.map(\.event) == ["admin.granted"])
            #expect(events.first?.details["role"] == "owner" && events.first?.details["on"] == "all")
            #expect(events.first?.details["actor"]["account"].string?.isEmpty == false)
            #expect(try await grants.list().map(\.uid.text) == [ada.uid])
            #expect(browser.cookies["gatehouse-console-claim"]?.isEmpty != false)
            try await claims.awaitMail(to: ada, about: "owner of all applications")

            #expect(try await browser.open(link).status == 404)
            let bob = try await claims.register()
            var second = PageBrowser(claims.server)
            _ = try await second.accept(claims.link(.support, on: "photos"), as: bob)
            let page = try await second.open("/console/claim")
            #expect(page.plainText.contains("Become support of photos"))
            #expect(try await second.claim(page).path == "/console/photos")
            for person in [ada, bob] { try await claims.awaitMail(to: person, about: "support of photos") }
        }
    }

    @Test func `making a link is recorded without the address`() async throws {
        try await ClaimServer.with { claims in
            let events = try await claims.server.audited { _ = try await claims.link(email: "ada@example.com") }
            #expect(events.map(\.event) == ["admin.invited"])
            #expect(
                events.first?.details
                    == ["actor": ["cli": "gate.example"], "role": "owner", "on": "all", "addressed": true])
            #expect(try await claims.server.count("SELECT count(*) FROM proofs WHERE kind = 'admin-invitation'") == 1)
        }
    }

    @Test func `an expired link is none, even with its page open`() async throws {
        try await ClaimServer.with { claims in
            let (ada, link) = (try await claims.register(), try await claims.link())
            var browser = PageBrowser(claims.server)
            let invited = try await browser.open(link)
            let offer = try await browser.accept(link, as: ada)
            try await claims.server.age("proofs", "expires_at", by: "25 hours")
            #expect(try await browser.open(link).status == 404)
            #expect(try await browser.submitClaim(of: invited).status == 404)
            #expect(try await browser.claim(offer).status == 404)
            let gone = try await browser.open("/console/claim")
            #expect(gone.status == 404 && gone.text.contains("data-code=\"NOT_FOUND\""))
            #expect(try await claims.grants().list().isEmpty)
            for unknown in ["x", String(repeating: "A", count: 43), ""] {
                #expect(try await browser.open("/console/claim?token=\(unknown)").status == 404)
            }
        }
    }

    @Test func `only the account that owns the address may use a link that names one`() async throws {
        try await ClaimServer.with { claims in
            let (ada, eve) = (try await claims.register(), try await claims.register())
            let link = try await claims.link(email: ada.email.uppercased())
            var other = PageBrowser(claims.server)
            #expect(try await other.open(link).text.contains(Mask.email(ada.email)))
            let refused = try await other.accept(link, as: eve)
            #expect(refused.status == 403 && refused.text.contains("data-code=\"FORBIDDEN\""), "\(refused.text)")
            #expect(!refused.text.contains("id=\"claim\"") && !refused.text.contains(ada.email))
            let outcome = try await claims.use(link, by: eve)
            #expect(outcome == .addressedToAnother)
            #expect(try await claims.grants().list().isEmpty)

            // From the refusal, the person can choose another account.
            let chosen = try await other.open("/console/claim?account=other")
            #expect(chosen.path.hasPrefix("/signin/"), "\(chosen.path)")
            var browser = PageBrowser(claims.server)
            let done = try await browser.claim(browser.accept(link, as: ada))
            #expect(done.path == "/console/demo", "\(done.text)")
            #expect(try await claims.grants().list().map(\.uid.text) == [ada.uid])
        }
    }

    @Test func `of twenty claims at once one wins`() async throws {
        try await ClaimServer.with { claims in
            let link = try await claims.link()
            var pages: [(PageBrowser, PageBrowser.View)] = []
            for _ in 0..<4 {
                var browser = PageBrowser(claims.server)
                let offer = try await browser.accept(link, as: claims.register())
                pages.append((browser, offer))
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for (browser, offer) in pages {
                    for _ in 0..<5 {
                        group.addTask {
                            var browser = browser
                            return try await browser.claim(offer).status
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1, "\(statuses)")
            #expect(statuses.filter { $0 == 404 }.count == 19, "\(statuses)")
            #expect(try await claims.grants().list().count == 1)
        }
    }

    @Test func `a form of a foreign page or another session changes nothing`() async throws {
        try await ClaimServer.with { claims in
            let (ada, link) = (try await claims.register(), try await claims.link())
            var browser = PageBrowser(claims.server)
            let invited = try await browser.open(link)
            browser.headers = ["sec-fetch-site": "cross-site"]
            #expect(try await browser.submitClaim(of: invited).status == 403)
            #expect(browser.cookies.isEmpty)
            browser.headers = [:]
            let offer = try await browser.accept(link, as: ada)
            browser.headers = ["sec-fetch-site": "same-site"]
            #expect(try await browser.claim(offer).status == 403)
            browser.headers = [:]
            let wrong = try await browser.send(.POST, "/console/claim", form: ["csrf": "0"])
            #expect(wrong.status == 403)
            #expect(try await claims.grants().list().isEmpty)
            #expect(try await browser.claim(offer).path == "/console/demo")

            browser.headers = ["sec-fetch-site": "cross-site"]
            for form in [["token": "x"], ["csrf": "x"]] {
                let events = try await claims.server.audited {
                    let refused = try await browser.send(.POST, "/console/claim", form: form)
                    #expect(refused.status == 403)
                }
                #expect(events.map(\.event) == ["admin.refused"], "\(form)")
            }
        }
    }

    @Test func `an old session proves again who it is`() async throws {
        try await ClaimServer.with { claims in
            let (ada, link) = (try await claims.register(), try await claims.link())
            var browser = PageBrowser(claims.server)
            let offer = try await browser.accept(link, as: ada)
            try await claims.server.letPass(.seconds(400))
            let asked = try await browser.claim(offer)
            #expect(asked.path.hasPrefix("/signin/"), "\(asked.status) \(asked.path)")
            #expect(try await claims.grants().list().isEmpty)
            let again = try await browser.signIn(ada, at: asked)
            #expect(try await browser.claim(again).path == "/console/demo", "\(again.status) \(again.text)")
        }
    }

    @Test func `a link counts only while its maker may grant the role`() async throws {
        try await ClaimServer.with { claims in
            let (grants, operations) = (try await claims.grants(), TestServer.operations)
            var uids: [UUID] = []
            for _ in 0..<3 { uids.append(try #require(UUID(uuidString: try await claims.register().uid))) }
            for uid in uids.prefix(2) { try await grants.grant(.owner, to: uid, on: nil, by: operations) }
            let link = try await claims.link(inviter: uids[0])
            let kept = try await claims.link(inviter: uids[1])
            #expect(try await claims.look(at: link) != nil)
            try await grants.grant(.auditor, to: uids[0], on: nil, by: operations)
            #expect(try await claims.look(at: link) == nil)
            #expect(try await claims.use(link, by: uids[2]) == .gone)
            #expect(try await claims.use(kept, by: uids[2]) == .granted)
        }
    }

    @Test func `the last owner does not become less by a link`() async throws {
        try await ClaimServer.with { claims in
            let ada = try await claims.register()
            var browser = PageBrowser(claims.server)
            _ = try await browser.claim(browser.accept(claims.link(), as: ada))
            let link = try await claims.link(.auditor)
            let offer = try await browser.accept(link)
            #expect(offer.plainText.contains("present role there, owner"))
            let refused = try await browser.claim(offer)
            #expect(refused.status == 409 && refused.text.contains("data-code=\"LAST_OWNER\""), "\(refused.text)")
            #expect(try await claims.look(at: link) != nil)
        }
    }
}

/// Invitations that administrators make.
struct AdminInvitationTests {
    private static let path = "/console/photos/admins/invitations"

    @Test func `an owner of one application invites to it alone`() async throws {
        try await ClaimServer.with { claims in
            let (ada, bob) = (try await claims.register(), try await claims.register())
            var browser = PageBrowser(claims.server)
            _ = try await browser.claim(browser.accept(claims.link(.owner, on: "photos"), as: ada))
            let page = try await browser.open(Self.path)
            #expect(page.status == 200, "\(page.text)")
            let made = try await browser.send(
                .POST, Self.path,
                form: [
                    "csrf": page.csrf(for: Self.path), "role": "support", "reason.code": "operations",
                    "email": bob.email,
                ])
            #expect(made.status == 200 && made.path.hasPrefix("/console/photos"), "\(made.status) \(made.text)")
            let link = try #require(made.text.firstMatch(of: /<code id="shown-once">([^<]*)</)?.output.1)
            var other = PageBrowser(claims.server)
            _ = try await other.claim(other.accept(String(link), as: bob))
            let grants = try await claims.grants().list()
            let photos = try await claims.server.application(named: "photos").id
            #expect(grants.map(\.uid.text) == [ada.uid, bob.uid] && grants.allSatisfy { $0.application == photos })
            #expect(grants.map(\.role) == [.owner, .support])
            #expect(claims.server.inbox.messages().allSatisfy { !$0.text.contains("/console/claim") })
        }
    }

    @Test func `who may not grant may not invite`() async throws {
        try await ClaimServer.with { claims in
            let ada = try await claims.register()
            var browser = PageBrowser(claims.server)
            let done = try await browser.claim(browser.accept(claims.link(.support, on: "photos"), as: ada))
            #expect(try await browser.open(Self.path).status == 403)
            let sent = try await browser.send(
                .POST, Self.path,
                form: ["csrf": done.csrf(for: Self.path), "role": "auditor", "reason.code": "operations"])
            #expect(sent.status == 403, "without a form of its own there is no token either")
            let program = try await OperatorClient.of(claims.server)
            expectError(try await program.act("/admins/invitations", ["role": "auditor"]), 403, "FORBIDDEN")
            #expect(try await claims.server.count("SELECT count(*) FROM proofs WHERE kind = 'admin-invitation'") == 0)
        }
    }

    @Test(arguments: ["0", "-1", "604801"]) func `the lifetime has bounds`(seconds: String) async throws {
        try await ClaimServer.with { claims in
            let ada = try await claims.register()
            var browser = PageBrowser(claims.server)
            _ = try await browser.claim(browser.accept(claims.link(.owner, on: "photos"), as: ada))
            let page = try await browser.open(Self.path)
            let refused = try await browser.send(
                .POST, Self.path,
                form: [
                    "csrf": page.csrf(for: Self.path), "role": "support", "reason.code": "operations",
                    "expiresIn": seconds,
                ])
            #expect(refused.status == 400 && refused.text.contains("data-code=\"INVALID_PARAMETER\""))
        }
    }
}

/// The page "you", and the identities with which a role counts.
struct OwnConsolePageTests {
    @Test func `an identity that was added later counts once it is confirmed`() async throws {
        try await ClaimServer.with { claims in
            let ada = try await claims.register()
            var browser = PageBrowser(claims.server)
            _ = try await browser.claim(browser.accept(claims.link(), as: ada))
            let linked = try await APIClient(claims.server).link(.somebody("ada"), bearer: ada.accessToken)
            #expect(linked.status == 200, "\(linked.text)")

            let page = try await browser.open("/console/demo/you")
            #expect(
                page.plainText.contains("owner of all applications") && page.text.contains("Your roles do not count"))
            let path = try #require(page.text.firstMatch(of: /action="(\/console\/demo\/you[^"]*)"/)?.output.1)
            let events = try await claims.server.audited {
                let done = try await browser.send(.POST, String(path), form: ["csrf": page.csrf(for: String(path))])
                #expect(done.status == 200 && done.path == "/console/demo/you", "\(done.text)")
                #expect(done.text.contains("Your roles count now") && !done.text.contains("Your roles do not count"))
            }
            #expect(events.map(\.event) == ["admin.identity-admitted"])
        }
    }

    @Test func `it needs a fresh proof, and an identity of one's own`() async throws {
        try await ClaimServer.with { claims in
            let ada = try await claims.register()
            var browser = PageBrowser(claims.server)
            _ = try await browser.claim(browser.accept(claims.link(), as: ada))
            _ = try await APIClient(claims.server).link(.somebody("ada"), bearer: ada.accessToken)
            let page = try await browser.open("/console/demo/you")
            let path = String(try #require(page.text.firstMatch(of: /action="(\/console\/demo\/you[^"]*)"/)?.output.1))
            try await claims.server.letPass(.seconds(400))
            let asked = try await browser.send(.POST, path, form: ["csrf": page.csrf(for: path)])
            #expect(asked.path.hasPrefix("/signin/"), "\(asked.status) \(asked.path)")
            let again = try await browser.signIn(ada, at: asked)
            #expect(again.path.hasPrefix("/console/demo/you") && again.text.contains("Your roles do not count"))

            // The token of a form is good for its own path alone.
            let other = path.replacing(/identities\/[^\/]*/, with: "identities/\(UUID().uuidString.lowercased())")
            let foreign = try await browser.send(.POST, other, form: ["csrf": again.csrf(for: path)])
            #expect(foreign.status == 403)
        }
    }
}

/// A server with a console, and the links to it.
private struct ClaimServer: Sendable {
    let server: TestServer

    static func with(_ body: @Sendable @escaping (ClaimServer) async throws -> Void) async throws {
        try await TestServer.with(
            application: "openid: {}", providers: "scripted: {}", others: TestServer.photos,
            admin: "{ application: demo, console: true }"
        ) { try await body(ClaimServer(server: $0)) }
    }

    func register() async throws -> Person { try await APIClient(server).register(at: server) }

    func grants() async throws -> AdminGrants {
        AdminGrants(store: server.backend.store, home: try await server.application())
    }

    private func invitations() async throws -> AdminInvitations {
        AdminInvitations(
            store: server.backend.store, opaque: server.backend.opaque, home: try await server.application())
    }

    func link(
        _ role: AdminScope.Role = .owner, on name: String? = nil, email: String? = nil, inviter: UUID? = nil
    ) async throws -> String {
        try await server.adminLink(role, on: name, email: email, inviter: inviter)
    }

    func look(at link: String) async throws -> AdminInvitation? {
        try await invitations().look(at: try token(of: link))
    }

    func use(_ link: String, by person: Person) async throws -> AdminInvitations.Outcome {
        try await use(link, by: try #require(UUID(uuidString: person.uid)))
    }

    func use(_ link: String, by uid: UUID) async throws -> AdminInvitations.Outcome {
        try await invitations().use(try token(of: link), by: uid, among: [], as: TestServer.operations)
    }

    private func token(of link: String) throws -> String {
        try #require(URLComponents(string: link)?.query("token"))
    }

    func awaitMail(to person: Person, about role: String) async throws {
        try await eventually("the owner is told") {
            server.inbox.messages().contains { $0.to == person.email && $0.text.contains(role) }
        }
    }
}

extension PageBrowser {
    /// Opens a link and sends its form, up to the page that offers the role; signs in on the way if a person is given.
    fileprivate mutating func accept(_ link: String, as person: Person? = nil) async throws -> View {
        let view = try await submitClaim(of: open(link))
        guard let person else { return view }
        return try await signIn(person, at: view)
    }

    /// Sends the form of a page that offers a role, and follows where it leads.
    fileprivate mutating func claim(_ view: View) async throws -> View { try await submitClaim(of: view) }

    fileprivate mutating func submitClaim(of view: View) async throws -> View {
        let form = try #require(
            view.text.firstMatch(
                of: /(?s)<form method="post" action="([^"]*)" id="claim">.*?name="(\w+)" value="([^"]*)"/),
            "no form to claim: \(view.status) \(view.text)")
        return try await send(.POST, String(form.output.1), form: [String(form.output.2): String(form.output.3)])
    }
}

extension PageBrowser.View {
    /// The text without its tags.
    fileprivate var plainText: String { text.replacing(/<[^>]*>/, with: "") }

    /// The hidden field `csrf` of the form that is sent to a path; empty if there is no such form.
    fileprivate func csrf(for path: String) -> String {
        let forms = text.matches(of: /(?s)<form method="post" action="([^"]*)".*?name="csrf" value="([^"]*)"/)
        return forms.first { $0.output.1 == path }.map { String($0.output.2) } ?? ""
    }
}
