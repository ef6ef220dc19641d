import Accounts
import Administration
import Delivery
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// What administrators do at the console, by clicks in a real browser: each journey with scripts, and without them.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct ConsoleWalkTests {
    private static let base = "/console/demo"

    private func with(
        scripts: Bool, role: AdminScope.Role? = .owner, _ body: @Sendable @escaping (ConsoleWalk) async throws -> Void
    ) async throws {
        try await TestServer.withConsole { server in
            try await ConsoleWalk.with(server, scripts: scripts, role: role, body)
        }
    }

    // MARK: - Becoming an administrator, and leaving

    @Test(arguments: [true, false]) func `a claim link makes an administrator once`(scripts: Bool) async throws {
        try await with(scripts: scripts, role: nil) { walk in
            let link = try await walk.server.adminLink()
            let path = String(link.dropFirst(PageBrowser.issuer.count))
            try await walk.open(path)
            try await walk.expect("owner of all applications", heading: "You are invited")
            try await walk.press("claim", to: ConsoleWalk.signInPage)
            try await walk.prove()
            try await walk.expect(Mask.email(walk.person.email), heading: "Accept the invitation")
            try await walk.press("claim")
            try await walk.expect(heading: "Overview", said: "You are an administrator now.")
            try await walk.open(path)
            try await walk.expect(heading: "This link cannot be used", alert: "NOT_FOUND")
        }
    }

    @Test(arguments: [true, false])
    func `a disabled account is found in the audit, and nothing is behind a sign-out`(scripts: Bool) async throws {
        try await with(scripts: scripts) { walk in
            let uid = walk.other.uid
            try await walk.open("\(Self.base)/accounts/\(uid)/disable")
            try await walk.press("accounts-disable", ["reason.code": "fraud"])
            try await walk.click("Audit")
            try await walk.press("/audit", ["event": "account.disabled"])
            #expect(try await walk.browser.evaluate("document.querySelectorAll('tbody tr').length") == 1)
            try await walk.expect("code: fraud")
            try await walk.follow("/accounts/\(uid)")
            try await walk.expect(heading: "Account")

            try await walk.press("sign-out")
            try await walk.expect(heading: "You are signed out")
            // Signed in to the application's own pages, the person would be signed in to the console again.
            try await walk.go(to: "document.querySelector('button[value=signout]')") {
                try await walk.browser.open(PageBrowser.issuer + "/oauth/logout")
            }
            try await walk.go(to: "document.querySelector('main').dataset.step === 'signed-out'") {
                try await walk.browser.click("document.querySelector('button[value=signout]')")
            }
            try await walk.expectNothingBehind(Mask.email(walk.other.email), walk.person.email, "Live.")
            try await walk.go(to: ConsoleWalk.signInPage) {
                try await walk.browser.open(PageBrowser.issuer + "/console")
            }
        }
    }

    // MARK: - People

    @Test(arguments: [true, false])
    func `a person is found by address, revealed with a reason, and has a second account for one`(
        scripts: Bool
    ) async throws {
        try await with(scripts: scripts) { walk in
            let (server, other) = (walk.server, walk.other)
            try await walk.click("Accounts")
            try await walk.press("search", ["q": other.email])
            try await walk.expect(Mask.email(other.email), heading: "Accounts")
            try await walk.follow("/accounts/\(other.uid)")
            try await walk.expect("Live.", heading: "Account", without: [other.email])

            try await walk.click("Reveal masked fields")
            try await walk.press("accounts-reveal", ["fields": "email", "reason.code": "support"])
            try await walk.expect(other.email, heading: "Revealed fields")
            try await walk.click("Back to the account")
            try await walk.expect(heading: "Account", without: [other.email])

            let evidence = VerifiedIdentity.somebody(email: other.email, isTrusted: false)
            let signedUp = try await APIClient(server).present(evidence, to: "scripted")
            let second = try Person(signedUp, email: "", password: "")
            try await walk.open("\(Self.base)/accounts/\(second.uid)")
            try await walk.click("Why a second account")
            try await walk.press("/why", ["other": other.uid])
            try await walk.expect("address.unproven", "What can be done", without: [other.email])
            try await walk.follow("/accounts/\(other.uid)")
            try await walk.expect(heading: "Account")
        }
    }

    @Test(arguments: [true, false])
    func `disabling wants a reason, and the account is enabled again`(scripts: Bool) async throws {
        try await with(scripts: scripts) { walk in
            try await walk.open("\(Self.base)/accounts/\(walk.other.uid)")
            try await walk.click("Disable the account")
            // The browser itself asks for what is missing.
            try await walk.fill("accounts-disable", ["reason.ticket": "T 7", "reason.note": "called <us>"])
            try await walk.browser.click(ConsoleWalk.button(of: "accounts-disable"))
            try await walk.browser.wait(until: "document.activeElement.name === 'reason.code'")
            #expect(try await walk.alert == nil)

            try await walk.press("accounts-disable", ["reason.code": "fraud"])
            try await walk.expect(alert: "INVALID_PARAMETER")
            #expect(try await walk.has("[name=\"reason.ticket\"][aria-invalid]"))
            for (name, typed) in ["reason.code": "fraud", "reason.ticket": "T 7", "reason.note": "called <us>"] {
                #expect(try await walk.value(of: name, in: "accounts-disable") == typed)
            }
            if walk.runsScripts {
                #expect(try await walk.browser.evaluate("document.activeElement.id") == "problem")
            }
            try await walk.press("accounts-disable", ["reason.ticket": "T-7"])
            try await walk.expect("Disabled until an administrator enables it", said: "The account is disabled")

            try await walk.click("Enable the account")
            try await walk.press("accounts-enable", ["reason.code": "error"])
            try await walk.expect("Live.", said: "The account is enabled.")
        }
    }

    @Test(arguments: [true, false])
    func `sessions end, a note is text, and a deleted account is restored`(scripts: Bool) async throws {
        try await with(scripts: scripts) { walk in
            let api = APIClient(walk.server)
            try #require(try await api.login(walk.other.email).status == 200)
            try await walk.open("\(Self.base)/accounts/\(walk.other.uid)")
            try await walk.click("End sessions")
            try await walk.press("accounts-endSessions", ["reason.code": "support"])
            try await walk.expect(said: "Sessions that have ended: 2.")
            #expect(try await api.refresh(walk.other.refreshToken).status / 100 == 4)

            let note = "<b>bold</b><img src=x onerror=alert(1)> {{csrf}}"
            try await walk.press("notes-add", ["text": note, "reason.code": "support"])
            try await walk.expect(note, said: "The note is saved.")
            #expect(try await !walk.has(".note b, .note img"))

            try await walk.click("Delete the account")
            try await walk.press("accounts-delete", ["reason.code": "person-asked"])
            try await walk.expect("can be restored until", said: "The account is deleted.")
            try await walk.click("Restore the account")
            try await walk.press("accounts-restore", ["reason.code": "person-asked"])
            try await walk.expect("Live.", said: "The account is restored.")
        }
    }

    @Test(arguments: [true, false])
    func `a person is invited, and a lock is lifted`(scripts: Bool) async throws {
        try await with(scripts: scripts) { walk in
            let (api, address) = (APIClient(walk.server), APIClient.newAddress())
            try await walk.click("Accounts")
            try await walk.click("Invite a person")
            try await walk.press("invitations-send", ["email": address, "reason.code": "support"])
            try await walk.expect(heading: "Accounts", said: "The invitation is on its way.")
            try await eventually("it arrives") { walk.server.inbox.messages().contains { $0.to == address } }

            for _ in 1...10 { _ = try await api.login(walk.other.email, "a wrong one") }
            try await walk.click("Limits")
            try await walk.press("limits-search", ["email": walk.other.email])
            try await walk.expect("Too many wrong passwords")
            try await walk.press("limits-lift", ["reason.code": "person-asked"])
            try await walk.expect(said: "What was locked is open again.")
            #expect(try await api.login(walk.other.email).status == 200)
        }
    }

    // MARK: - Providers

    @Test(arguments: [true, false])
    func `a provider is planned off, switched with the phrase, and open again`(scripts: Bool) async throws {
        try await with(scripts: scripts) { walk in
            _ = try await APIClient(walk.server).newcomer()
            try await walk.click("Providers")
            try await walk.click("scripted")
            try await walk.press("providers-plan", ["mode": "off"])
            try await walk.expect("1 person would have no way in.")
            try await walk.press("providers-switch", ["reason.code": "test", "confirm": "off"])
            try await walk.expect(alert: "CONFIRMATION_REQUIRED")
            #expect(try await walk.value(of: "reason.code", in: "providers-switch") == "test")
            try await walk.press("providers-switch", ["confirm": "demo/scripted off"])
            try await walk.expect(said: "The provider is switched.")

            try await walk.click("Overview")
            try await walk.expect("The provider scripted was switched: it is off instead of open until")
            try await walk.click("See the provider")
            try await walk.press("providers-endSwitch", ["reason.code": "test"])
            try await walk.expect(said: "The switch is over.")
            try await walk.click("Overview")
            #expect(try await !walk.has(".banner"))
        }
    }

    @Test(arguments: [true, false])
    func `a new provider is checked, and a question about the rules is answered`(scripts: Bool) async throws {
        try await with(scripts: scripts) { walk in
            try await walk.click("Providers")
            try await walk.click("New provider")
            try await walk.follow("?kind=oidc")
            let (form, secret) = ("new-provider", "hush-hush-\(UUID().uuidString)")
            try await walk.press(
                form,
                [
                    "name": "corp", "settings.issuer": "nowhere", "settings.clientID": "client",
                    "settings.clientSecret": secret,
                ])
            try await walk.expect(alert: "INVALID_PROVIDER_SETTINGS", without: [secret])
            #expect(try await walk.has("#new-provider-settings-issuer-problem"))
            #expect(try await walk.value(of: "settings.clientID", in: form) == "client")
            #expect(try await walk.value(of: "settings.clientSecret", in: form) == "")
            try await walk.press(
                form, ["settings.issuer": "https://127.0.0.1:1", "settings.clientSecret": secret])
            let lines = try await walk.browser.evaluate("document.getElementById('lines')?.innerText").string
            #expect(lines?.contains("clientSecret: \"${CORP_CLIENT_SECRET}\"") == true, "\(lines ?? "")")
            try await walk.expect("What the checks found", without: [secret])

            try await walk.click("Explain")
            try await walk.press("explain", ["provider": "scripted"])
            try await walk.expect("The identity opens a new account.")
        }
    }

    // MARK: - Keys

    @Test(arguments: [true, false])
    func `an old proof is renewed on the way, and what was typed is kept`(scripts: Bool) async throws {
        try await with(scripts: scripts) { walk in
            try await walk.click("Keys")
            try await walk.click("Rotate the keys")
            try await walk.server.letPass(.seconds(360))
            let typed: KeyValuePairs = ["reason.code": "operations", "reason.ticket": "T-9"]
            try await walk.press("keys-rotate", typed, to: ConsoleWalk.signInPage)
            try await walk.prove()
            try await walk.expect(said: "You have proven who you are.")
            for (name, text) in typed { #expect(try await walk.value(of: name, in: "keys-rotate") == text) }
            try await walk.press("keys-rotate")
            try await walk.expect(heading: "Keys", said: "New keys sign from now on.")
        }
    }

    @Test(arguments: [true, false])
    func `the secret of a service key is shown once, and the key is revoked`(scripts: Bool) async throws {
        try await with(scripts: scripts) { walk in
            let secret = try await walk.makeKey()
            #expect(try await APIClient(walk.server).get("/admin/me", bearer: secret).status == 200)
            if walk.runsScripts {
                let copy = "document.querySelector('button.copy')"
                try await walk.browser.click(copy)
                try await walk.browser.wait(until: "\(copy).innerText === 'Copied'")
                _ = try await walk.browser.evaluate("document.querySelector('#serviceKeys-make [name=name]').focus()")
                try await walk.browser.paste()
                #expect(try await walk.value(of: "name", in: "serviceKeys-make") == secret)
            } else {
                #expect(try await !walk.has("button.copy:not([hidden])"), "it could not copy")
            }
            try await walk.go { _ = try await walk.browser.call("Page.reload") }
            try await walk.expect("ticket system", without: [secret])

            try await walk.click("Revoke")
            try await walk.press("serviceKeys-revoke", ["reason.code": "operations"])
            try await walk.expect(said: "The key is revoked.")
            #expect(try await APIClient(walk.server).get("/admin/me", bearer: secret).status == 401)
        }
    }

    // MARK: - With scripts alone

    @Test func `two clicks at once send a form once`() async throws {
        try await with(scripts: true) { walk in
            try await walk.open("\(Self.base)/accounts/\(walk.other.uid)")
            try await walk.fill("notes-add", ["text": "once", "reason.code": "support"])
            let button = ConsoleWalk.button(of: "notes-add")
            let clicks = "(button => { button.click(); button.click() })(\(button))"
            try await walk.go { _ = try await walk.browser.evaluate(clicks) }
            try await walk.expect(said: "The note is saved.")
            #expect(try await walk.server.count("SELECT count(*) FROM admin_notes") == 1)
        }
    }
}

extension ConsoleWalk {
    /// Makes a service key, and returns the secret that the page shows.
    fileprivate func makeKey() async throws -> String {
        try await click("Service keys")
        try await press(
            "serviceKeys-make",
            ["name": "ticket system", "scopes": "server:read", "expiresIn": "86400", "reason.code": "operations"])
        try await expect(said: "The key is made.")
        return try #require(try await browser.evaluate("document.getElementById('shown-once')?.innerText").string)
    }
}
