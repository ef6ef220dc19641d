import Foundation
import GatehouseTesting
import MobileNetworkProvider
import ProviderKit
import Testing

struct AssertionTests {
    private let carrier: Carrier

    init() throws { carrier = try Carrier() }

    private func verdict(on changes: [String: JSONValue]) async throws -> VerifiedIdentity {
        let assertion = try carrier.authority.token(carrier.claims(changes))
        return try await carrier.provider(carrier.assertions).verify(body: ["assertion": .string(assertion)])
    }

    @Test func `an assertion proves a number, once`() async throws {
        let identity = try await verdict(on: [:])
        let number = try #require(PhoneNumber("+33612345678"))
        #expect(identity.providerUid == number.value && identity.methods == ["mno"])
        #expect(
            identity.addresses == [AddressClaim(address: .phone(number), isVerified: true, isAuthoritative: true)])
        #expect(identity.singleUse?.expires == carrier.now.addingTimeInterval(300))
        let earlier = try await verdict(on: ["iat": 1_799_999_990, "exp": 1_800_000_200])
        #expect(earlier.authenticatedAt == Date(timeIntervalSince1970: 1_799_999_990))
        let other = try await verdict(on: ["jti": "a-2"])
        #expect(identity.singleUse?.id != other.singleUse?.id)
    }

    @Test(
        arguments: [
            ["jti": .null], ["jti": ""], ["iat": .null], ["exp": .null], ["exp": 1_800_000_301],
            ["phone_number": .null], ["phone_number": "33612345678"], ["phone_number": "0612345678"],
            ["phone_number": 33_612_345_678], ["aud": "another"], ["iss": "https://stranger.example"],
        ] as [[String: JSONValue]])
    func `an assertion is a complete proof`(changes: [String: JSONValue]) async throws {
        await #expect(throws: ProviderError.refused) { try await verdict(on: changes) }
    }

    @Test func `a valid header does not replace an invalid assertion`() async throws {
        let request = Carrier.request(from: Carrier.gateway, ["X-MSISDN": ["33612345678"]])
        let both = try carrier.provider(carrier.header.merging(carrier.assertions) { $1 })
        await #expect(throws: ProviderError.refused) {
            try await both.verify(body: ["assertion": "a.b.c"], from: request)
        }
        // Assertions are also refused if they are not configured.
        let headerOnly = try carrier.provider(carrier.header)
        await #expect(throws: ProviderError.refused) {
            try await headerOnly.verify(body: ["assertion": "a.b.c"], from: request)
        }
    }

    @Test func `the header is ignored if none is configured`() async throws {
        let request = Carrier.request(from: Carrier.gateway, ["X-MSISDN": ["33612345678"]])
        await #expect(throws: ProviderError.missing(field: "assertion")) {
            try await carrier.provider(carrier.assertions).verify(body: [:], from: request)
        }
    }
}
