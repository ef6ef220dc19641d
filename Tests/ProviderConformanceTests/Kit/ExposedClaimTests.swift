import AnonymousProvider
import AppleProvider
import CustomTokenProvider
import GatehouseTesting
import MobileNetworkProvider
import OpenIDConnectProvider
import ProviderKit
import Testing

/// Tests that the evidence has the claims that the configuration exposes, under the source's own names.
struct ExposedClaimTests {
    private static let names = ["role", "team.name", "real_user_status", "gone"]
    private static let claims: [String: JSONValue] = [
        "role": "admin", "team": ["name": "red"], "real_user_status": 2, "hidden": true,
    ]
    private static let expected: [String: JSONValue] = ["role": "admin", "team.name": "red", "real_user_status": 2]

    @Test func `every kind with claims declares it`() {
        let kinds: [any Provider.Type] =
            [OpenIDConnectProvider.self, OAuth2Provider.self, AppleProvider.self, CustomTokenProvider.self]
            + [MobileNetworkProvider.self] + ReadyProviders.all
        #expect(kinds.allSatisfy { $0.exposesClaims })
        #expect(!AnonymousProvider.exposesClaims)
    }

    @Test func `exposed claims of Apple's token`() async throws {
        let apple = try FakeApple()
        let provider = try AppleProvider.made(
            of: apple.settings, exposing: Self.names, service: apple.service, now: apple.now)
        let native = try await apple.signIn(apple.token(Self.claims), at: provider)
        #expect(native.profile == Self.expected)
        let plain = try AppleProvider.made(of: apple.settings, service: apple.service, now: apple.now)
        #expect(try await apple.signIn(apple.token(Self.claims), at: plain).profile.isEmpty)
    }

    @Test func `exposed claims of a custom token, where mapped names take precedence`() async throws {
        let legacy = try LegacySystem()
        let settings = legacy.settings.merging(["claims": ["role": "team.name"]]) { $1 }
        let provider = try CustomTokenProvider.made(
            of: settings, exposing: Self.names, service: legacy.service, now: legacy.now)
        let token = try legacy.authority.token(legacy.claims(Self.claims))
        let identity = try await provider.verify(body: ["token": .string(token)])
        #expect(identity.profile == Self.expected.merging(["role": "red"]) { $1 })
    }

    @Test func `claims come from an operator's assertion, not from a header`() async throws {
        let carrier = try Carrier()
        let provider = try MobileNetworkProvider.made(
            of: carrier.assertions, exposing: Self.names, service: carrier.service, now: carrier.now)
        let assertion = try carrier.authority.token(carrier.claims(Self.claims))
        let identity = try await provider.verify(body: ["assertion": .string(assertion)])
        #expect(identity.profile == Self.expected)
        let error = #expect(throws: SettingsError.self) {
            try MobileNetworkProvider.made(
                of: carrier.header, exposing: Self.names, service: carrier.service, now: carrier.now)
        }
        #expect(error?.setting == "expose")
    }
}
