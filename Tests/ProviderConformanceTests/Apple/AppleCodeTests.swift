import AppleProvider
import Foundation
import GatehouseTesting
import ProviderKit
import Testing

/// Tests the exchange of authorization codes, and the client secret for Apple.
struct AppleCodeTests {
    private let apple: FakeApple
    private let code: [String: JSONValue] = ["authorizationCode": "c.1"]

    init() throws { apple = try FakeApple() }

    @Test func `a code becomes a refresh token of the token's client`() async throws {
        let identity = try await apple.signIn(apple.token(), at: apple.provider(), with: code)
        #expect(identity.tokens == ProviderTokens(refreshToken: "r.1", clientID: "net.example.web"))
        let form = try #require(apple.service.requests.last { $0.url.hasSuffix("/auth/token") }?.form)
        #expect(form["grant_type"] == "authorization_code" && form["client_id"] == "net.example.web")
        #expect(form["redirect_uri"] == nil)
        try await checkSecret(form["client_secret"] ?? "", of: "net.example.web")
    }

    /// Checks the client secret in the way that Apple does.
    private func checkSecret(_ secret: String, of clientID: String) async throws {
        let now = apple.now
        let verifier = ConformancePorts.make(http: apple.service, now: { now }).tokens
        let rules = TokenRules(
            keys: .set(apple.clientKey.keySetText), algorithms: [.es256], issuers: ["TEAM"], audiences: [FakeApple.url],
            longestLifetime: .seconds(300))
        let keyed = try TokenHeader(secret)
        #expect(keyed.kid == "KEY" && keyed.alg == "ES256")
        // Apple knows the key by the id in the settings, but the verifier's key set by another id.
        let claims = try await verifier.verify(secret, by: rules.with(.pem(apple.clientKey.publicKeyPEM)))
        #expect(claims.subject == clientID && claims.issuedAt == apple.now)
    }

    @Test func `a bad code refuses no sign-in`() async throws {
        let provider = try apple.provider()
        let token = try apple.token()
        let used = try await apple.signIn(token, at: provider, with: ["authorizationCode": "used"])
        #expect(used.providerUid == "001.abc" && used.tokens == nil)
        for status in [500, 503, 429, 403] {
            apple.service.answer(FakeApple.url + "/auth/token") { _ in FetchResponse(status: status, body: []) }
            let identity = try await apple.signIn(token, at: provider, with: code)
            #expect(identity.providerUid == "001.abc" && identity.tokens == nil, "\(status)")
        }
    }

    @Test func `another person's code attaches no tokens`() async throws {
        let other = try apple.token(["sub": "002.xyz"])
        apple.give(["refresh_token": "r.2", "id_token": .string(other)])
        let identity = try await apple.signIn(apple.token(), at: apple.provider(), with: code)
        #expect(identity.providerUid == "001.abc" && identity.tokens == nil)
        apple.give(["refresh_token": "r.2", "id_token": "forged"])
        let unsure = try await apple.signIn(apple.token(), at: apple.provider(), with: code)
        #expect(unsure.tokens == nil)
    }

    @Test func `without a key no code is exchanged`() async throws {
        let identity = try await apple.signIn(apple.token(), at: apple.provider(withKey: false), with: code)
        #expect(identity.tokens == nil)
        #expect(!apple.service.requests.contains { $0.url.hasSuffix("/auth/token") })
    }

    @Test func `a forged token costs Apple no exchange`() async throws {
        let forged = try apple.authority.token(apple.claims(), under: .foreignKey, now: apple.now)
        await #expect(throws: ProviderError.refused) {
            try await apple.signIn(forged, at: apple.provider(), with: code)
        }
        #expect(!apple.service.requests.contains { $0.url.hasSuffix("/auth/token") })
    }

    // MARK: - Revocation

    @Test func `a refresh token is revoked by its own client`() async throws {
        try await apple.provider().revoke(ProviderTokens(refreshToken: "r.1", clientID: "net.example.app"))
        let form = try #require(apple.service.requests.last?.form)
        #expect(apple.service.requests.last?.url == FakeApple.url + "/auth/revoke")
        #expect(form["token"] == "r.1" && form["token_type_hint"] == "refresh_token")
        #expect(form["client_id"] == "net.example.app")
        try await checkSecret(form["client_secret"] ?? "", of: "net.example.app")
    }

    @Test func `a token that Apple does not know counts as revoked`() async throws {
        try await apple.provider().revoke(ProviderTokens(refreshToken: "r.gone", clientID: "net.example.app"))
        try await apple.provider().revoke(ProviderTokens())
    }

    @Test(
        arguments: [
            (500, [:]), (503, [:]), (429, [:]), (401, [:]), (400, ["error": "invalid_client"]),
        ] as [(Int, JSONValue)])
    func `other failures are tried again`(status: Int, answer: JSONValue) async throws {
        apple.service.answer(FakeApple.url + "/auth/revoke") { _ in .json(answer, status: status) }
        await #expect(throws: ProviderError.unavailable) {
            try await apple.provider().revoke(ProviderTokens(refreshToken: "r.1"))
        }
        await #expect(throws: ProviderError.unavailable) {
            try await apple.provider(withKey: false).revoke(ProviderTokens(refreshToken: "r.1"))
        }
    }
}

private struct TokenHeader: Decodable {
    let alg: String
    let kid: String

    init(_ token: String) throws {
        let header = try #require(Data(base64URL: String(token.prefix { $0 != "." })))
        self = try JSONDecoder().decode(Self.self, from: header)
    }
}

extension TokenRules {
    fileprivate func with(_ keys: TokenKeys) -> TokenRules {
        var rules = self
        rules.keys = keys
        return rules
    }
}
