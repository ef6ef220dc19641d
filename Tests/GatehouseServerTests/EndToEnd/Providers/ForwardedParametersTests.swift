import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Parameters that are fixed for a provider's page (`authorizationParameters`), and those that apps pass (`forward`).
struct ForwardedParametersTests {
    private static let settings = """
        authorizationParameters: { acr_values: "2", prompt: select_account }, forward: [login_hint, ui_locales]
        """

    /// Runs the body with apps that sign in with an OpenID issuer and with an OAuth 2.0 service.
    private func with(
        _ body: @Sendable @escaping (TestServer, [RedirectClient]) async throws -> Void
    ) async throws {
        try await UpstreamServer.with { upstream in
            _ = try OpenIDConnectSignInTests.Issuer(upstream)
            let url = upstream.url
            try await TestServer.with(
                application: #"redirectURIs: ["demo://oauth/callback"]"#,
                providers: """
                    mobile: { kind: oidc, issuer: "\(url)", clientID: client, clientSecret: secret, \(Self.settings) }
                    corp: { kind: oauth2, authorizationEndpoint: "\(url)/authorize", tokenEndpoint: "\(url)/token", \
                    userInfoEndpoint: "\(url)/me", clientID: client, clientSecret: secret, \
                    claims: { providerUid: id }, \(Self.settings) }
                    plain: { kind: oidc, issuer: "\(url)", clientID: client, clientSecret: secret }
                    """
            ) { server in
                var clients: [RedirectClient] = []
                for provider in ["mobile", "corp", "plain"] {
                    clients.append(RedirectClient(api: APIClient(server), provider: provider))
                }
                try await body(server, clients)
            }
        }
    }

    @Test func `the page gets the fixed parameters, and what the app passes`() async throws {
        try await with { _, clients in
            let passed: JSONValue = ["login_hint": "MSISDN:33612345678&x=1", "ui_locales": "fr de"]
            for client in clients.prefix(2) {
                let flow = try await client.flow(client.post(["parameters": passed, "state": "s"]))
                #expect(flow.authorization.json.keys == ["url", "state"] && flow.authorization["state"] == "s")
                #expect(flow.url.query("acr_values") == "2" && flow.url.query("prompt") == "select_account")
                #expect(flow.url.query("login_hint") == "MSISDN:33612345678&x=1")
                #expect(flow.url.query("ui_locales") == "fr de" && flow.url.query("x") == nil)
                let without = try await client.begin(["login_hint": "a"])
                #expect(without.url.query("acr_values") == "2" && without.url.query("login_hint") == nil)
            }
        }
    }

    @Test func `a flow that authenticates again replaces the fixed prompt`() async throws {
        try await with { server, clients in
            let person = try await clients[0].api.register(at: server)
            for client in clients.prefix(2) {
                let flow = try await client.flow(
                    client.post(["parameters": ["login_hint": "a"]], bearer: person.accessToken))
                let names = flow.url.queryItems?.map(\.name) ?? []
                #expect(Set(names).count == names.count, "\(names)")
                #expect(flow.url.query("prompt") == "login" && flow.url.query("max_age") == "0")
                #expect(flow.url.query("login_hint") == "a" && flow.url.query("acr_values") == "2")
                let link = try await client.api.post(
                    "/auth/identities/\(client.provider)/authorize",
                    [
                        "redirect_uri": .string(client.redirectURI), "parameters": ["login_hint": "b"],
                        "code_challenge": .string(CodeChallenge.s256(of: client.verifier)),
                    ], bearer: person.accessToken)
                #expect(link["url"].string?.contains("login_hint=b") == true, "\(link.text)")
            }
        }
    }

    @Test func `other names and long values are refused, without the value`() async throws {
        try await with { server, clients in
            let longest = String(repeating: "é", count: 128)
            for client in clients.prefix(2) {
                #expect(try await client.post(["parameters": ["login_hint": .string(longest)]]).status == 200)
                for (name, value): (String, JSONValue) in [
                    ("login_hint", .string(longest + "x")), ("login_hint", ""), ("login_hint", 1),
                    ("acr_values", "1-secret"), ("state", "1-secret"), ("Login_hint", "1-secret"),
                    ("login_hint ", "1-secret"), ("prompt", "none"),
                ] {
                    let answer = try await client.post(["parameters": [name: value]])
                    expectError(answer, 400, "INVALID_PARAMETER", name)
                    #expect(answer.text.contains("parameters.") && !answer.text.contains("secret"), "\(answer.text)")
                }
                expectError(try await client.post(["parameters": "login_hint"]), 400, "INVALID_PARAMETER")
                let refused = try await client.post(["parameters": ["login_hint": .null]])
                #expect(refused.status == 400, "\(refused.text)")
            }
            expectError(try await clients[2].post(["parameters": ["login_hint": "a"]]), 400, "INVALID_PARAMETER")
            #expect(try await clients[2].post(["parameters": [:]]).status == 200)
            #expect(try await server.count("SELECT count(*) FROM redirect_flows") == 3)
        }
    }
}
