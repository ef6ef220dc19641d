import Foundation
import GatehouseClient
import ProviderKit
import Testing

/// No token is in a URL, or in the text of anything that the Swift client library gives an app.
struct SwiftSecretsTests {
    /// Every text that a value has: what a log, a debugger and an alert show.
    private static func texts(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        let bridged = (value as? any Error).map { "\($0 as NSError) \($0.localizedDescription)" } ?? ""
        return "\(value) \(String(reflecting: value)) \(dumped) \(bridged)"
    }

    @Test func `nothing that is shown or requested contains a token`() async throws {
        try await TestServer.linking(application: #"redirectURIs: ["demo://oauth/callback"]"#) { server, api in
            let (app, browser) = (try SwiftApp(server), RedirectClient(api: api))
            let person = try await api.register(at: server)
            _ = try await api.newcomer("eve")
            let password = GatehouseClient.Proof.password(email: person.email, password: person.password)
            let signedIn = try await app.client.signIn(password)
            let first = try await app.client.accessToken()
            let second = try await app.client.accessToken(insteadOf: first)
            let taken = await #expect(throws: GatehouseError.self) {
                try await app.client.link(.scripted(.somebody("eve")))
            }
            let flow = try await app.client.beginRedirect(
                to: "scripted", redirectURI: browser.redirectURI, for: .reauthenticate)
            let arrival = try await browser.visit(flow, as: .somebody("ada"))
            let proof = try flow.proof(from: arrival)
            let stranger = await #expect(throws: GatehouseError.self) { try await app.client.reauthenticate(proof) }
            try await app.client.deleteAccount()
            let deleted = await #expect(throws: GatehouseError.self) { try await app.client.signIn(password) }

            let mergeToken = try #require(taken?.refusal?.mergeToken)
            let restoreToken = try #require(deleted?.refusal?.restoreToken)
            let members = ["refreshToken", "codeVerifier", "code", "password"]
            let bodies = app.transport.sent.compactMap {
                try? JSONDecoder().decode([String: JSONValue].self, from: Data($0.body.utf8))
            }
            let sent = bodies.flatMap { body in members.compactMap { body[$0]?.string } }
            let secrets = Set(sent + [first, second, mergeToken, restoreToken].map(\.value))
            #expect(first != second && secrets.count >= 8)

            let values: [Any] = [
                app.client, app.changes.all, signedIn, password, flow, proof, first, mergeToken, taken as Any,
                stranger as Any, deleted as Any,
            ]
            let shown = values.map { Self.texts($0) } + app.transport.sent.map(\.url.absoluteString)
            for text in shown {
                for secret in secrets { #expect(!text.contains(secret), "a secret is in \(text.prefix(300))") }
            }
        }
    }
}
