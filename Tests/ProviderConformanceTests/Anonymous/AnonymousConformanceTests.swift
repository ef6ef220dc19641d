import AnonymousProvider
import GatehouseTesting
import ProviderKit
import Testing

struct AnonymousConformanceTests {
    @Test func `the provider conforms`() async throws {
        var fixtures = ProviderFixtures()
        fixtures.proofs = [GoodProof(.credential([:]), of: nil, offline: .works)]
        try await ProviderConformance.check(AnonymousProvider.self, fixtures)
    }
}
