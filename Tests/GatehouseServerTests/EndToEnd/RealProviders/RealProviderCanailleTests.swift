import Foundation
import ProviderKit
import Testing

/// Gatehouse with `canaille`, whose pages use cookies and CSRF tokens; it signs with RS512, states `auth_time` in
/// fractions of a second, sends `iss` in its redirects, and marks no address as verified.
struct RealProviderCanailleTests {
    private func with(
        _ body: @Sendable @escaping (TestServer, RedirectClient) async throws -> Void
    ) async throws {
        try await Canaille.with { canaille in
            try await TestServer.with(
                application: #"redirectURIs: ["demo://oauth/callback"]"#,
                providers: """
                    canaille: { kind: oidc, issuer: "\(canaille.provider.issuer)", clientID: client, \
                    clientSecret: secret, trustEmail: true }
                    """
            ) { server in
                var client = RedirectClient(api: APIClient(server))
                client.provider = "canaille"
                try await body(server, client)
            }
        }
    }

    /// Waits for the next second: `canaille` issues equal access tokens to a person within one second, and its database
    /// rejects duplicates.
    private func nextSecond() async throws {
        let start = time(nil)
        try await eventually("the next second") { time(nil) > start }
    }

    @Test func `a password, a refusal, consent, and from then on one account`() async throws {
        try await with { server, client in
            var browser = Browser()
            let refusal = try await client.travel(with: &browser) { browser in
                #expect(browser.url.path == "/login")
                try await browser.logIn(as: "jo", password: "wrong")
                #expect(browser.url.path == "/auth/password", "it asks again")
                try await browser.submit(["password": Canaille.password])
                #expect(browser.url.path == "/oauth/authorize")
                try await browser.submit(["answer": "deny"])
            }
            #expect(refusal.query("error") == "access_denied" && refusal.query("code") == nil, "\(refusal)")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)

            let consent = try await client.travel(with: &browser) { browser in
                #expect(browser.url.path == "/oauth/authorize", "who it is has been said")
                try await browser.submit(["answer": "accept"])
            }
            let first = try await client.redeem(consent.query("code"))
            #expect(first.status == 200 && first["isNewAccount"] == true, "\(consent) \(first.text)")
            #expect(first["auth"]["providerUid"] == "jo" && first["user"]["displayName"] == "Jo Doe")
            // The identity shows it as unverified, because the provider does not state that it is verified.
            #expect(first["user"]["emailVerified"] == false && first["user"]["email"] == .null, "\(first.text)")
            let token = try DecodedToken(try #require(first["accessToken"].string))
            #expect(token.claims["amr"] == ["pwd"], "\(token.claims)")

            try await nextSecond()
            let again = try await client.travel(with: &browser) { _ in }
            let quick = try await client.redeem(again.query("code"))
            #expect(quick["user"]["id"] == first["user"]["id"], "without a question: \(again) \(quick.text)")

            try await nextSecond()
            var elsewhere = Browser()
            let later = try await client.travel(with: &elsewhere) { try await $0.logIn(as: "jo") }
            let second = try await client.redeem(later.query("code"))
            #expect(second["user"]["id"] == first["user"]["id"] && second["isNewAccount"] == false, "\(second.text)")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
        }
    }
}
