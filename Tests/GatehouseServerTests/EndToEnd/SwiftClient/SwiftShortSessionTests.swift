import Foundation
import GatehouseClient
import ProviderKit
import Testing

/// The Swift client library opens short sessions, and passes parameters to providers' pages.
struct SwiftShortSessionTests {
    private static let redirectURI = "demo://oauth/callback"

    private static func isShort(_ session: GatehouseClient.Session?) -> Bool {
        let end = session?.auth.sessionExpires ?? .distantFuture
        return end <= Date().addingTimeInterval(12 * 3600)
    }

    @Test func `a provider's page gets what the app passes, and no URL of the server has it`() async throws {
        let corp = """
            corp: { kind: oauth2, authorizationEndpoint: "https://corp.example/authorize", \
            tokenEndpoint: "https://corp.example/token", userInfoEndpoint: "https://corp.example/me", \
            clientID: client, clientSecret: secret, claims: { providerUid: id }, forward: [login_hint] }
            """
        let application = "redirectURIs: [\"\(Self.redirectURI)\"]"
        let log = CollectedLog()
        try await TestServer.with(application: application, providers: corp, logger: log.logger) { server in
            let app = try SwiftApp(server)
            try await app.client.signIn(.anonymous)
            for purpose in [GatehouseClient.Purpose.signIn, .link, .reauthenticate] {
                let flow = try await app.client.beginRedirect(
                    to: "corp", redirectURI: Self.redirectURI, for: purpose,
                    parameters: ["login_hint": "MSISDN:33612345678&x=1"])
                let page = try #require(URLComponents(url: flow.url, resolvingAgainstBaseURL: false))
                #expect(page.query("login_hint") == "MSISDN:33612345678&x=1" && page.query("x") == nil)
            }
            let refused = await #expect(throws: GatehouseError.self) {
                try await app.client.beginRedirect(
                    to: "corp", redirectURI: Self.redirectURI, parameters: ["prompt": "33612345678"])
            }
            #expect(refused?.code == .invalidParameter && refused.map { "\($0)".contains("33612345678") } == false)
            let urls = app.transport.sent.map(\.url.absoluteString)
            #expect(urls.allSatisfy { !$0.contains("33612345678") && !$0.contains("?") }, "\(urls)")
        }
        #expect(!log.lines.isEmpty && !log.lines.contains { $0.contains("33612345678") })
    }

    @Test func `what a page opens may be short, and what continues it is as short`() async throws {
        let application = "redirectURIs: [\"\(Self.redirectURI)\"]"
        try await TestServer.linking(application: application) { server, api in
            let (app, browser) = (try SwiftApp(server), RedirectClient(api: api))
            let flow = try await app.client.beginRedirect(
                to: "scripted", redirectURI: Self.redirectURI, remember: false)
            let arrival = try await browser.visit(flow, as: .somebody("ada"))
            let ada = try await app.client.signIn(flow.proof(from: arrival)).session
            #expect(Self.isShort(ada) && app.storage.isEmpty)

            try await app.client.link(.scripted(.somebody("ada's other")))
            let linked = try await app.client.session
            #expect(linked?.uid == ada.uid && Self.isShort(linked) && app.storage.isEmpty)
            let again = try await app.client.reauthenticate(.scripted(.somebody("ada"))).session
            #expect(again.uid == ada.uid && Self.isShort(again) && app.storage.isEmpty)

            try await app.client.deleteAccount()
            let deleted = await #expect(throws: GatehouseError.self) {
                try await app.client.signIn(.scripted(.somebody("ada")), remember: false)
            }
            let ticket = try #require(deleted?.refusal?.restoreToken)
            let restored = try await app.client.restoreAccount(ticket, remember: false).session
            #expect(restored.uid == ada.uid && Self.isShort(restored) && app.storage.isEmpty)
            let long = try await app.client.signIn(.scripted(.somebody("ada"))).session
            #expect(!Self.isShort(long) && !app.storage.isEmpty)
        }
    }
}
