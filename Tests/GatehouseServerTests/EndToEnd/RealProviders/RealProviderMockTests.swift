import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// Gatehouse with `oidc-provider-mock`, which omits `kid` from its tokens and `iss` from its redirects.
struct RealProviderMockTests {
    private func with(
        settings: String = "trustEmail: true",
        _ body: @Sendable @escaping (TestServer, OpenIDProviderMock) async throws -> Void
    ) async throws {
        try await OpenIDProviderMock.with { mock in
            try await TestServer.with(mock, settings: settings) { server in try await body(server, mock) }
        }
    }

    private func web(_ server: TestServer, _ provider: String = "mock") -> RedirectClient {
        var client = RedirectClient(api: APIClient(server))
        client.provider = provider
        return client
    }

    /// Signs in through the mock's page with a new browser.
    private func signIn(
        _ person: String, _ server: TestServer, _ provider: String = "mock"
    ) async throws -> APIClient.Answer {
        let client = web(server, provider)
        var browser = Browser()
        let arrival = try await client.travel(with: &browser) { try await $0.submit(["sub": person]) }
        let answer = try await client.redeem(arrival.query("code"))
        #expect(answer.status == 200, "\(arrival) \(answer.text)")
        return answer
    }

    private func native(
        _ server: TestServer, _ token: String, nonce: String? = nil
    ) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = ["idToken": .string(token)]
        body["nonce"] = nonce.map { .string($0) }
        return try await APIClient(server).post("/auth/oauth/mock/token", .object(body))
    }

    @Test func `a sign-in through the provider's page opens the same account each time`() async throws {
        try await with { server, _ in
            for (index, name) in ["mock", "plain"].enumerated() {
                let first = try await signIn("jo", server, name)
                #expect(first["auth"]["providerUid"] == "jo" && first["auth"]["provider"].string == name)
                #expect(first["user"]["email"] == "jo@example.com" && first["user"]["emailVerified"] == true)
                #expect(first["user"]["displayName"] == "Jo Doe", "\(first.text)")
                // Both provider configurations trust the address of the same issuer, so they lead to one account.
                #expect(first["isNewAccount"].bool == (index == 0))
                let token = try #require(first["accessToken"].string)
                #expect(try await APIClient(server).get("/auth/me", bearer: token).status == 200)
                let second = try await signIn("jo", server, name)
                #expect(second["user"]["id"] == first["user"]["id"] && second["isNewAccount"] == false)
                #expect(try await signIn("kim", server, name)["user"]["id"] != first["user"]["id"])
            }
            #expect(try await server.count("SELECT count(*) FROM accounts") == 3, "kim's address joins nothing")
        }
    }

    @Test func `an address joins its account if trustEmail is set, and is verified`() async throws {
        for isTrusted in [true, false] {
            try await with(settings: "trustEmail: \(isTrusted)") { server, _ in
                for (person, isVerified) in [("jo", true), ("kim", false)] {
                    let owner = try await APIClient(server).register(at: server, email: "\(person)@example.com")
                    let answer = try await signIn(person, server)
                    let joins = isTrusted && isVerified
                    #expect((answer["user"]["id"].string == owner.uid) == joins, "\(person): \(answer.text)")
                    #expect(answer["user"]["emailVerified"].bool == joins)
                    #expect(answer["user"]["email"].string == (joins ? owner.email : nil))
                }
            }
        }
    }

    @Test func `its refusal has no state and so ends at the server's own page`() async throws {
        try await with { server, _ in
            let client = web(server)
            let flow = try await client.begin(["mode": "redirect"])
            var browser = Browser()
            try await browser.open(flow.url)
            try await browser.submit(["action": "deny"])
            #expect(browser.url.query("error") == "access_denied")
            // RFC 6749, 4.1.2.1 requires the state; without it the flow is not found, even if the cookie is present.
            #expect(browser.url.query("state") == nil)
            let answer = try await client.arrive(flow, from: browser)
            #expect(answer.status == 400 && answer.headers.first(name: "location") == nil, "\(answer.text)")
            #expect(answer.headers.first(name: "content-type")?.hasPrefix("text/html") == true)
            let arrival = try await client.callback(flow, ["error": "access_denied"]).redirect
            #expect(arrival.query("error") == "access_denied", "and the flow is still there for one that has it")
        }
    }

    @Test func `an ID token that an app got from it`() async throws {
        try await with { server, mock in
            let token = try await mock.idToken(of: "jo", nonce: "n")
            expectError(try await native(server, token, nonce: "m"), 401, "INVALID_TOKEN", "another nonce")
            let answer = try await native(server, token, nonce: "n")
            #expect(answer.status == 200 && answer["auth"]["providerUid"] == "jo", "\(answer.text)")
            expectError(try await native(server, token, nonce: "n"), 401, "INVALID_TOKEN", "presented again")
            #expect(try await signIn("jo", server)["user"]["id"] == answer["user"]["id"], "the same by its pages")

            let others = try await mock.idToken(of: "jo", client: "another")
            expectError(try await native(server, others), 401, "INVALID_TOKEN", "for another client")
            let parts = try await mock.idToken(of: "kim").split(separator: ".")
            let signature = token.split(separator: ".").last ?? ""
            expectError(
                try await native(server, "\(parts[0]).\(parts[1]).\(signature)"), 401, "INVALID_TOKEN",
                "another's signature")
        }
    }

    @Test func `a killed provider affects only its own sign-ins, and its cached keys stay in use`() async throws {
        try await with { server, mock in
            let client = web(server)
            let token = try await mock.idToken(of: "jo")
            #expect(try await native(server, token).status == 200)
            let flow = try await client.begin(["mode": "redirect"])
            var browser = Browser()
            try await browser.open(flow.url)
            try await browser.submit(["sub": "jo"])
            try await mock.provider.kill()

            let arrival = try await client.arrive(flow, from: browser).redirect
            #expect(arrival.query("error") == "temporarily_unavailable" && arrival.query("code") == nil, "\(arrival)")
            #expect(try await native(server, token).status == 200, "its keys are at hand")
            #expect(try await APIClient(server).present(.somebody()).status == 200)

            // A server that has not fetched the provider's metadata and keys.
            try await TestServer.with(mock) { cold in
                expectError(try await native(cold, token), 503, "PROVIDER_UNAVAILABLE")
                expectError(try await web(cold).authorize(), 503, "PROVIDER_UNAVAILABLE")
                #expect(try await APIClient(cold).present(.somebody()).status == 200)
            }
        }
    }
}

extension TestServer {
    /// Runs the body with a server on which the mock is configured twice: as `mock` by its issuer, and as `plain` by
    /// its endpoints.
    fileprivate static func with(
        _ mock: OpenIDProviderMock, settings: String = "trustEmail: true",
        _ body: @Sendable @escaping (TestServer) async throws -> Void
    ) async throws {
        let client = "clientID: client, clientSecret: secret"
        try await with(
            application: #"redirectURIs: ["demo://oauth/callback"]"#,
            providers: """
                mock: { kind: oidc, issuer: "\(mock.issuer)", \(client), \(settings) }
                plain: { kind: oauth2, authorizationEndpoint: "\(mock.issuer)/oauth2/authorize", \
                tokenEndpoint: "\(mock.issuer)/oauth2/token", userInfoEndpoint: "\(mock.issuer)/userinfo", \
                scopes: [openid, email, profile], \(client), \(settings), claims: { providerUid: sub, email: email, \
                emailVerified: email_verified, displayName: name } }
                scripted: {}
                """, body)
    }
}
