import GatehouseTesting
import MobileNetworkProvider
import ProviderKit
import Testing

struct MobileNetworkConformanceTests {
    @Test func `the provider conforms`() async throws {
        let carrier = try Carrier()
        let settings = carrier.header.merging(carrier.assertions) { $1 }
        var fixtures = ProviderFixtures(settings: settings, service: carrier.service, now: carrier.now)
        fixtures.brokenSettings = [
            BrokenSettings(settings.mapValues { _ in .null }, blames: "gateways"),
            BrokenSettings(["gateways": .null], blames: "gateways"),
            BrokenSettings(["gateways": []], blames: "gateways"),
            BrokenSettings(["gateways": ["10.1.0.0/33"]], blames: "gateways"),
            BrokenSettings(["gateways": ["gateway.example"]], blames: "gateways"),
            BrokenSettings(["header": .null], blames: "header"),
            BrokenSettings(["header": "X MSISDN"], blames: "header"),
            BrokenSettings(["issuer": .null], blames: "issuer"),
            BrokenSettings(["jwksURL": .null], blames: "jwksURL"),
        ]
        let request = Carrier.request(from: Carrier.gateway, ["X-MSISDN": ["33687654321"]])
        let assertion = JSONValue.string(try carrier.authority.token(carrier.claims()))
        fixtures.proofs = [
            GoodProof(.credential([:], from: request), of: "+33687654321", offline: .works),
            GoodProof(.credential(["assertion": assertion]), of: "+33612345678", offline: .unavailable),
        ]
        fixtures.badProofs = try carrier.authority.attacks(on: carrier.claims(), now: carrier.now).map { name, token in
            (name, .credential(["assertion": .string(token)]))
        }
        fixtures.badProofs += [("nothing at all", .credential([:]))]
        try await ProviderConformance.check(MobileNetworkProvider.self, fixtures)
    }
}
