import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Apps of Immich whose button opens the application's own pages, which know every further step.
struct ImmichHostedTests {
    private static let application = """
        \(RelyingParty.configuration)
        redirectURIs: ["\(ImmichApp.redirectURI)", "https://photos.example/back"]
        dialects:
          immich: { provider: hosted, redirectURI: "\(ImmichApp.redirectURI)" }
        """

    @Test func `whom the app's own calls refuse gets in at the pages`() async throws {
        try await ImmichApp.with(application: Self.application) { server, app in
            let features = try await app.call(.GET, "/server/features")
            #expect(features["oauth"] == true)
            let person = try await app.api.register(at: server)
            _ = try await app.api.deleteAccount(person)
            let refused = try await app.login(person.email)
            #expect(refused.status == 403 && refused["code"] == "ACCOUNT_DELETED", "\(refused.text)")
            #expect(!refused.text.contains("restoreToken"))
            #expect(refused["message"].string?.contains("It can be restored until ") == true, "\(refused.text)")

            let begun = try await app.authorize(redirectURI: "https://photos.example/back")
            var browser = PageBrowser(server)
            let page = try await browser.open(try #require(begun["url"].string, "\(begun.text)"))
            let restore = try await browser.signIn(person, at: page)
            #expect(restore.step == "restore", "\(restore.text)")
            let done = try await browser.submit("restore", of: restore)
            let answer = try await app.callback(try #require(done.target, "\(done.text)"))
            #expect(answer.status == 201, "\(answer.text)")
            let login = try ImmichModels.decode(ImmichModels.Login.self, from: answer)
            #expect(login.userId == person.uid)
            let me = try await app.call(.GET, "/users/me", token: login.accessToken)
            #expect(me.status == 200)
        }
    }
}
