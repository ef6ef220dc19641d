import GatehouseTesting
import OpenIDConnectProvider
import ProviderKit
import Testing

struct OpenIDConnectConformanceTests {
    private let client: [String: JSONValue] = ["clientID": "client", "clientSecret": "s3cret-of-ours"]

    @Test func `the provider conforms`() async throws {
        let issuer = try FakeIssuer()
        let settings: [String: JSONValue] = ["issuer": .string(FakeIssuer.url), "audiences": ["ios"]]
        var fixtures = try issuer.fixtures(settings: client.merging(settings) { $1 })
        fixtures.brokenSettings += [
            BrokenSettings(["issuer": "issuer.example"], blames: "issuer"),
            BrokenSettings(["issuer": "https://issuer.example?a=b"], blames: "issuer"),
            BrokenSettings(["hostedDomains": []], blames: "hostedDomains"),
            BrokenSettings(["tenants": []], blames: "tenants"),
        ]
        try await ProviderConformance.check(OpenIDConnectProvider.self, fixtures)
    }

    /// Two of the presets.
    ///
    /// The others differ from these only in their settings.
    @Test(arguments: ["google", "gitlab"])
    func `a service that is ready to use conforms`(kind: String) async throws {
        let issuer = try FakeIssuer()
        let settings: [String: JSONValue] = ["baseURL": .string(FakeIssuer.url), "audiences": ["ios"]]
        var fixtures = try issuer.fixtures(settings: client.merging(settings) { $1 })
        fixtures.brokenSettings += [BrokenSettings(["baseURL": "issuer.example"], blames: "baseURL")]
        if kind == "google" {
            fixtures.brokenSettings += [BrokenSettings(["hostedDomains": []], blames: "hostedDomains")]
        }
        let type = try #require(ReadyProviders.all.first { $0.kind == kind })
        try await ProviderConformance.check(type, fixtures)
    }

    @Test func `plain OAuth 2_0 conforms`() async throws {
        let issuer = try FakeIssuer()
        let url = FakeIssuer.url
        let settings: [String: JSONValue] = [
            "authorizationEndpoint": .string(url + "/authorize"), "tokenEndpoint": .string(url + "/token"),
            "userInfoEndpoint": .string(url + "/userinfo"), "trustEmail": true,
            "claims": [
                "providerUid": "sub", "email": "email", "emailVerified": "email_verified", "displayName": "name",
            ],
        ]
        var fixtures = ProviderFixtures(
            settings: client.merging(settings) { $1 }, service: issuer.service, now: issuer.now)
        fixtures.brokenSettings = [
            BrokenSettings(["clientID": ""], blames: "clientID"),
            BrokenSettings(["authorizationEndpoint": "issuer.example/authorize"], blames: "authorizationEndpoint"),
            BrokenSettings(["claims": ["email": "email"]], blames: "claims"),
            BrokenSettings(["clientAuthentication": "jwt"], blames: "clientAuthentication"),
        ]
        fixtures.proofs = [GoodProof(.callback(["code": "c.bare"]), of: "u-1", offline: .unavailable)]
        fixtures.badProofs = [("no code", .callback([:])), ("an unknown code", .callback(["code": "c.2"]))]
        try await ProviderConformance.check(OAuth2Provider.self, fixtures)
    }
}
