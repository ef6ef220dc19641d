import GatehouseTesting
import ProviderKit
import Testing

/// Tests that the conformance kit finds the fault of each of these providers.
struct KitTests {
    private func fixtures<P: Provider>(for type: P.Type) throws -> ProviderFixtures {
        var fixtures = ProviderFixtures(settings: ["word": "open sesame"])
        fixtures.proofs = [GoodProof(.credential(["word": "open sesame"]), of: "ali", offline: .works)]
        return fixtures
    }

    private func failures<P: Provider>(of type: P.Type) async throws -> String {
        await ProviderConformance.failures(of: type, try fixtures(for: type)).joined(separator: "\n")
    }

    @Test func `a sound provider has no failures`() async throws {
        #expect(try await failures(of: Cave<NoFault>.self) == "")
    }

    @Test func `a schema is checked`() async throws {
        let failures = try await failures(of: Cave<BadSchema>.self)
        #expect(failures.contains("the schema has a name twice"))
        #expect(failures.contains("the help of word is not a sentence"))
        #expect(failures.contains("setting mode is one that the server reads itself"))
    }

    @Test func `a required setting is required`() async throws {
        var fixtures = try fixtures(for: Cave<NoFault>.self)
        fixtures.brokenSettings = [BrokenSettings(["hint": "x"], blames: "hint")]
        let failures = await ProviderConformance.failures(of: Cave<NoFault>.self, fixtures)
        #expect(failures == ["cave: settings with another hint are taken, though hint is wrong"])
        await #expect(throws: ConformanceFailure.self) {
            try await ProviderConformance.check(Cave<NoFault>.self, fixtures)
        }
    }

    @Test func `errors are a provider's own, and keep secrets`() async throws {
        #expect(try await failures(of: Cave<ForeignError>.self).contains("which is no ProviderError"))
        #expect(try await failures(of: Cave<Leak>.self).contains("gives an error that repeats a secret"))
        #expect(try await failures(of: Cave<Shrug>.self).contains("counts as a service that is down"))
    }

    @Test func `evidence keeps the rules`() async throws {
        let failures = try await failures(of: Cave<BadEvidence>.self)
        #expect(failures.contains("an unverified address is authoritative"))
        #expect(failures.contains("the name is empty or over 256 bytes"))
        #expect(failures.contains("a guest has an address"))
        #expect(try await self.failures(of: Cave<Anybody>.self).contains("proves somebody else"))
        #expect(try await self.failures(of: Cave<Moody>.self).contains("gives other evidence"))
    }

    @Test func `a provider reports an outage of its service`() async throws {
        let fixtures = try fixtures(for: Cave<Dependent>.self)
        fixtures.service.answer("https://cave.example") { _ in .json([:]) }
        let failures = await ProviderConformance.failures(of: Cave<Dependent>.self, fixtures).joined(separator: "\n")
        #expect(failures.contains("good proof 1 with a service that is down is refused"))
    }

    @Test func `bad proofs are bad`() async throws {
        var fixtures = try fixtures(for: Cave<NoFault>.self)
        fixtures.badProofs = [("the same", .credential(["word": "open sesame"]))]
        let failures = await ProviderConformance.failures(of: Cave<NoFault>.self, fixtures)
        #expect(failures.contains("cave: bad proof the same is taken"))
    }
}
