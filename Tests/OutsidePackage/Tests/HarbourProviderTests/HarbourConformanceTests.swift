import GatehouseTesting
import HarbourProvider
import ProviderKit
import Testing

struct HarbourConformanceTests {
    @Test func `the provider conforms`() async throws {
        let harbour = try TestAuthority(.es256)
        let claims: [String: JSONValue] = [
            "iss": "https://harbour.example", "aud": "gatehouse", "sub": "crew-7", "jti": "pass-1",
            "iat": 1_800_000_000, "exp": 1_800_000_600,
        ]
        func pass(_ token: String) -> ProviderProof { .credential(["pass": .string(token)]) }

        var fixtures = ProviderFixtures(settings: ["baseURL": "https://harbour.example", "clientID": "gatehouse"])
        fixtures.service.answer("https://harbour.example/keys") { _ in .json(harbour.keySet) }
        fixtures.brokenSettings = [BrokenSettings(["baseURL": "https://harbour.example/"], blames: "baseURL")]
        fixtures.proofs = [GoodProof(pass(try harbour.token(claims)), of: "crew-7", offline: .unavailable)]
        fixtures.badProofs = try harbour.attacks(on: claims, now: fixtures.now).map { ($0.name, pass($0.token)) }
        try await ProviderConformance.check(HarbourProvider.self, fixtures)
    }
}
