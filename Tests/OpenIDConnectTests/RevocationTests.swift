import ProviderKit
import Testing

@testable import OpenIDConnectProvider

struct RevocationTests {
    private static let endpoint = "https://id.example/revoke"
    private let world = World(
        discovery: World.discovery.with(["revocation_endpoint": .string(endpoint)]))

    @Test func `tokens that must be revoked are kept`() async throws {
        #expect(try await world.signIn(to: world.provider()).tokens == ProviderTokens(accessToken: "at"))
        let refreshable = try await world.signIn(and: ["refresh_token": "rt"], to: world.provider())
        #expect(refreshable.tokens == ProviderTokens(refreshToken: "rt"))
        let plain = World()
        #expect(try await plain.signIn(to: plain.provider()).tokens == nil)
    }

    @Test(arguments: [(200, true), (400, true), (404, true), (401, false), (429, false), (503, false)])
    func `responses of the issuer`(_ status: Int, _ isDone: Bool) async throws {
        world.service.answer(Self.endpoint, status: status, [:])
        let provider = try world.provider()
        do {
            try await provider.revoke(ProviderTokens(refreshToken: "rt"))
            #expect(isDone)
        } catch {
            #expect(!isDone && error as? ProviderError == .unavailable)
        }
        let request = try #require(world.service.requests(to: Self.endpoint).first)
        #expect(request.form == ["token": "rt", "token_type_hint": "refresh_token"])
        #expect(request.headers["Authorization"] != nil)
    }

    @Test func `an issuer without a revocation endpoint is not called`() async throws {
        let world = World()
        try await world.provider().revoke(ProviderTokens(refreshToken: "rt"))
        #expect(world.service.requests.count == 1)
    }
}
