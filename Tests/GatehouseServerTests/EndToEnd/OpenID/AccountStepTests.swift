import Accounts
import Administration
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Steps about the account itself: a required new password, a deleted account, and what refuses a sign-in.
struct AccountStepTests {
    // MARK: - A new password

    @Test func `a required new password is chosen before the client gets a code`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            try await server.requireNewPassword(ada)
            var browser = PageBrowser(server)
            let page = try await browser.signIn(ada, at: browser.begin(party))
            #expect(page.status == 200 && page.step == "new-password" && page.text.contains(ada.email))
            #expect(try await browser.begin(party, ["prompt": "none"]).returnedError == "interaction_required")
            let weak = try await browser.submit("save", ["password": "password"], of: page)
            #expect(weak.status == 400 && weak.step == "new-password" && weak.problem == "TOO_WEAK_PASSWORD")
            #expect(weak.text.contains("easy to guess") && weak.text.contains("aria-describedby=\"problem\""))
            let empty = try await browser.submit("save", of: weak)
            #expect(empty.status == 400 && empty.problem == "MISSING_PARAMETER")
            let done = try await browser.submit("save", ["password": APIClient.otherPassword], of: empty)
            #expect(done.code != nil, "\(done.text)")
            #expect(try await party.redeem(done.code ?? "").status == 200)
            expectError(try await party.api.login(ada.email), 401, "INVALID_CREDENTIALS")
            #expect(try await party.api.login(ada.email, APIClient.otherPassword).status == 200)
            expectError(try await party.api.get("/auth/me", bearer: ada.accessToken), 401, "INVALID_TOKEN")
        }
    }

    @Test func `it needs a recent proof, which is asked for first`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            var browser = PageBrowser(server)
            #expect(try await browser.signIn(ada, at: browser.begin(party)).code != nil)
            try await server.requireNewPassword(ada)
            let recent = try await browser.begin(party)
            #expect(recent.step == "new-password")
            try await server.age("sessions", "authenticated_at", by: "301 seconds", where: "kind = 'browser'")
            let late = try await browser.submit("save", ["password": APIClient.otherPassword], of: recent)
            #expect(late.status == 200 && late.step == "reauthenticate", "\(late.text)")
            #expect(try await party.api.login(ada.email).status == 200, "the password is the old one")
            let proven = try await browser.submit("password", ["password": ada.password], of: late)
            #expect(proven.step == "new-password", "\(proven.text)")
            #expect(try await browser.submit("save", ["password": APIClient.otherPassword], of: proven).code != nil)
        }
    }

    // MARK: - A deleted account

    @Test func `a deleted account is restored after its proof, or left`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            #expect(try await party.api.delete("/auth/account", bearer: ada.accessToken).status == 204)
            try await server.execute("UPDATE accounts SET purge_after = '2027-01-15T12:00:00Z'")
            var browser = PageBrowser(server)
            var page = try await browser.signIn(ada, at: browser.begin(party), ["remember": "1"])
            #expect(page.status == 200 && page.step == "restore", "\(page.text)")
            #expect(page.text.contains("15\u{A0}January\u{A0}2027, 12:00\u{A0}UTC"))
            #expect(browser.sessions == nil)
            #expect(try await browser.open(page.path + "?lang=de").text.contains("15.\u{A0}Januar\u{A0}2027"))
            page = try await browser.submit("leave", of: page)
            #expect(page.step == "signin")
            #expect(try await server.count("SELECT count(*) FROM accounts WHERE deleted_at IS NOT NULL") == 1)
            page = try await browser.signIn(ada, at: page, ["remember": "1"])
            let form = page
            var twin = browser
            page = try await browser.submit("restore", of: page)
            #expect(page.code != nil, "\(page.text)")
            #expect(try await twin.submit("restore", of: form).code == page.code, "a double click is answered alike")
            #expect(twin.sessions == browser.sessions)
            let tokens = try await party.redeem(page.code ?? "")
            #expect(try DecodedToken(tokens["id_token"].string ?? "").claims["sub"].string == ada.uid)
            #expect(
                try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser' AND idle IS NULL") == 1)
            #expect(try await party.api.login(ada.email).status == 200)
        }
    }

    @Test func `a restoration that took too long begins again`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            #expect(try await party.api.delete("/auth/account", bearer: ada.accessToken).status == 204)
            var browser = PageBrowser(server)
            var page = try await browser.signIn(ada, at: browser.begin(party))
            try await server.execute("DELETE FROM proofs")
            page = try await browser.submit("restore", of: page)
            #expect(page.status == 400 && page.step == "signin" && page.problem == "INVALID_TOKEN", "\(page.text)")
            page = try await browser.signIn(ada, at: page)
            #expect(page.step == "restore")
            #expect(try await browser.submit("restore", of: page).code != nil)
        }
    }

    // MARK: - Refusals

    @Test func `what refuses a sign-in is shown with what to do, and the ways that remain`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (ada, ben) = (try await party.api.register(at: server), try await party.api.register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            try await server.setDisabled(true, ada)
            let disabled = try await browser.signIn(ada, at: page)
            #expect(disabled.status == 400 && disabled.step == "signin" && disabled.problem == "ACCOUNT_DISABLED")
            #expect(disabled.text.contains("Ask the people who run") && disabled.accepts("code"))
            let address = APIClient.newAddress()
            let registration: JSONValue = ["email": .string(address), "password": .string(APIClient.password)]
            #expect(try await party.api.post("/auth/register", registration).status == 201)
            let unverified = try await browser.submit(
                "password", ["identifier": address, "password": APIClient.password], of: page)
            #expect(unverified.status == 400 && unverified.problem == "UNVERIFIED_IDENTITY")
            #expect(unverified.text.contains("Open the link in the mail") && unverified.accepts("code"))
            var locked = page
            for _ in 0..<11 {
                locked = try await browser.submit(
                    "password", ["identifier": ben.email, "password": "wrong horse"], of: page)
            }
            #expect(locked.status == 429 && locked.problem == "IDENTITY_TEMPORARILY_LOCKED", "\(locked.text)")
            #expect(locked.text.contains("sign in in another way") && locked.accepts("code"))
            let asked = try await browser.submit("code", ["identifier": ben.email], of: locked)
            let code = try await server.mailedCode(to: ben.email, count: 2)
            #expect(try await browser.submit("verify", ["code": code], of: asked).code != nil, "another way")
        }
    }
}

extension TestServer {
    /// Has an admin require a new password.
    fileprivate func requireNewPassword(_ person: Person) async throws {
        let uid = try #require(UUID(uuidString: person.uid))
        #expect(try await acts.requirePasswordChange(uid: uid, by: Self.operations, in: application()))
    }
}
