import CustomTokenProvider
import GatehouseTesting
import ProviderKit
import Testing

struct CustomTokenConformanceTests {
    /// The three ways to name keys.
    @Test(arguments: ["jwks", "jwksURL", "publicKey"])
    func `the provider conforms`(way: String) async throws {
        let legacy = try LegacySystem()
        var settings = legacy.settings
        settings["jwks"] = way == "jwks" ? settings["jwks"] : nil
        settings["jwksURL"] = way == "jwksURL" ? "https://legacy.example/keys" : nil
        settings["publicKey"] = way == "publicKey" ? .string(legacy.authority.publicKeyPEM) : nil
        var fixtures = ProviderFixtures(settings: settings, service: legacy.service, now: legacy.now)
        fixtures.brokenSettings = [
            BrokenSettings([way: .null], blames: "jwks"),
            BrokenSettings(["algorithms": []], blames: "algorithms"),
            BrokenSettings(["algorithms": ["ES256", "HS256"]], blames: "algorithms"),
            BrokenSettings(["algorithms": ["none"]], blames: "algorithms"),
            BrokenSettings(["algorithms": ["es256"]], blames: "algorithms"),
            BrokenSettings(["maximumAge": "0"], blames: "maximumAge"),
            BrokenSettings(["claims": ["providerUid": .null]], blames: "claims"),
        ]
        fixtures.brokenSettings += unreadable(way)
        let claims = legacy.claims()
        let token = JSONValue.string(try legacy.authority.token(claims))
        fixtures.proofs = [
            GoodProof(
                .credential(["token": token]), of: "u-1", offline: way == "jwksURL" ? .unavailable : .works)
        ]
        fixtures.badProofs = try legacy.authority.attacks(on: claims, now: legacy.now).map { name, token in
            (name, ProviderProof.credential(["token": .string(token)]))
        }
        try await ProviderConformance.check(CustomTokenProvider.self, fixtures)
    }

    private func unreadable(_ way: String) -> [BrokenSettings] {
        switch way {
        case "jwks": [BrokenSettings(["jwks": "no keys"], blames: "jwks")]
        case "publicKey": [BrokenSettings(["publicKey": "no key"], blames: "publicKey")]
        default: [BrokenSettings(["jwksURL": "legacy.example"], blames: "jwksURL")]
        }
    }
}
