import MobileNetworkProvider
import ProviderKit
import Testing

struct GatewayHeaderTests {
    private static let missing = ProviderError.missing(field: "assertion")
    private let carrier: Carrier
    private let provider: MobileNetworkProvider

    init() throws {
        carrier = try Carrier()
        provider = try carrier.provider(carrier.header)
    }

    @Test(arguments: [
        ("33612345678", "+33612345678"), ("+33612345678", "+33612345678"), ("0033612345678", nil), ("0612345678", nil),
        ("", nil), ("+", nil), ("33 6 12 34 56 78", nil), ("33612345678,33612345679", nil), ("++33612345678", nil),
        ("123456", nil), ("1234567890123456", nil), ("٣٣٦١٢٣٤٥٦٧٨", nil), ("tel:+33612345678", nil),
    ])
    func `a number has its country code`(value: String, expected: String?) async throws {
        let request = Carrier.request(from: Carrier.gateway, ["x-msisdn": [value]])
        guard let expected else {
            await #expect(throws: ProviderError.refused) { try await provider.verify(body: [:], from: request) }
            return
        }
        let identity = try await provider.verify(body: [:], from: request)
        let number = try #require(PhoneNumber(expected))
        #expect(identity.providerUid == expected && identity.methods == ["mno"] && identity.singleUse == nil)
        #expect(identity.authenticatedAt == nil, "it is proven by the request itself")
        #expect(
            identity.addresses == [AddressClaim(address: .phone(number), isVerified: true, isAuthoritative: true)])
    }

    @Test(arguments: [
        ("10.1.0.0", true), ("10.1.255.255", true), ("10.2.0.0", false), ("11.1.0.1", false), ("fd00:1::7", true),
        ("fd00:2::7", false), ("::ffff:10.1.2.3", true), ("::ffff:10.2.2.3", false), ("", false), ("gateway", false),
    ])
    func `the header counts only from a gateway`(peer: String, isGateway: Bool) async throws {
        let headers = [
            "X-MSISDN": ["33612345678"], "X-Forwarded-For": [Carrier.gateway], "Forwarded": ["for=10.1.2.3"],
        ]
        let request = Carrier.request(from: peer, headers)
        if isGateway {
            #expect(try await provider.verify(body: [:], from: request).providerUid == "+33612345678")
        } else {
            await #expect(throws: Self.missing) { try await provider.verify(body: [:], from: request) }
        }
    }

    @Test func `a request without an address has no gateway`() async throws {
        let request = Carrier.request(from: nil, ["X-MSISDN": ["33612345678"]])
        await #expect(throws: Self.missing) { try await provider.verify(body: [:], from: request) }
    }

    @Test func `the gateway writes the header once`() async throws {
        let twice = Carrier.request(from: Carrier.gateway, ["X-MSISDN": ["33612345678", "33687654321"]])
        await #expect(throws: ProviderError.refused) { try await provider.verify(body: [:], from: twice) }
        let never = Carrier.request(from: Carrier.gateway, ["X-Other": ["33612345678"]])
        await #expect(throws: Self.missing) { try await provider.verify(body: [:], from: never) }
    }
}
