import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Apps of Immich whose button opens the application's own pages, which know every further step.
struct ImmichHostedTests {
    private static let application = """
        \(RelyingParty.configuration.replacing("openid:", with: "openid:\n  pages: { name: Holiday Photos }"))
        redirectURIs: ["\(ImmichApp.redirectURI)"]
        dialects:
          immich: { provider: hosted, redirectURI: "\(ImmichApp.redirectURI)" }
        """

    @Test func `whom the app's own calls refuse gets in at the pages`() async throws {
        try await ImmichApp.with(application: Self.application) { server, app in
            let features = try await app.call(.GET, "/server/features")
            #expect(features["oauth"] == true)
            let person = try await app.api.register(at: server)
            _ = try await app.api.deleteAccount(person)
            let known = try await app.api.login(person.email)
            let end = try #require(known["error"]["details"]["purgeAfter"].string, "\(known.text)")
            let button = try #require(try await app.call(.GET, "/server/config")["oauthButtonText"].string)
            #expect(button == "Login with Holiday Photos", "the pages' own name")
            let refused = try await app.login(person.email)
            expectImmich(
                refused, 403, "ACCOUNT_DELETED",
                "The account is being deleted. It can be restored until \(end) with “\(button)”.")

            var browser = PageBrowser(server)
            let restore = try await browser.signIn(person, at: open(app, in: &browser))
            #expect(restore.step == "restore", "\(restore.text)")
            let done = try await browser.submit("restore", of: restore)
            let login = try await login(of: app, from: done)
            #expect(login.userId == person.uid)
            let me = try await app.call(.GET, "/users/me", token: login.accessToken)
            #expect(me.status == 200)
        }
    }

    @Test func `who needs another proof is sent to the button, and gets in at the pages`() async throws {
        try await ImmichApp.with(application: Self.application) { server, app in
            let (person, _) = try await app.api.victim(at: server, of: "ada")
            // As after a reset by another mailbox of the account: the password alone is no longer enough.
            try await server.execute("UPDATE identities SET quarantined_at = now() WHERE provider = 'email'")
            let button = try #require(try await app.call(.GET, "/server/config")["oauthButtonText"].string)
            let refused = try await app.login(person.email)
            expectImmich(
                refused, 403, "SECOND_PROOF_REQUIRED", "This account needs another step. Use “\(button)”.")

            var browser = PageBrowser(server)
            let page = try await open(app, in: &browser)
            let asked = try await browser.signIn(person, at: page)
            #expect(asked.step == "second-proof" && asked.problem == "SECOND_PROOF_REQUIRED", "\(asked.text)")
            let done = try await browser.present(.somebody("ada"), at: asked)
            #expect(try await login(of: app, from: done).userId == person.uid)
            // The proof has confirmed the password, too.
            #expect(try await app.login(person.email).status == 201)
        }
    }

    @Test func `whose identity belongs to another account meanwhile gets in at the pages`() async throws {
        try await ImmichApp.with(application: Self.application) { server, app in
            let person = try await app.api.register(at: server)
            var browser = PageBrowser(server)
            let done = try await browser.linkTooLate(.somebody("ben"), to: person, at: open(app, in: &browser))
            #expect(try await login(of: app, from: done).userId == person.uid)
        }
    }

    /// As the unchanged client, which names its own scheme.
    private func open(_ app: ImmichApp, in browser: inout PageBrowser) async throws -> PageBrowser.View {
        let begun = try await app.authorize()
        return try await browser.open(try #require(begun["url"].string, "\(begun.text)"))
    }

    /// The app's session by the URL at which the pages have ended, after the person has gone back to the app.
    private func login(of app: ImmichApp, from view: PageBrowser.View) async throws -> ImmichModels.Login {
        let target = try #require(view.target, "\(view.text)")
        #expect(target.hasPrefix(ImmichApp.redirectURI + "?"), "\(target)")
        let answer = try await app.callback(target)
        #expect(answer.status == 201, "\(answer.text)")
        return try ImmichModels.decode(ImmichModels.Login.self, from: answer)
    }
}
