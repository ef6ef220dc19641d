import CustomTokenProvider
import Foundation
import GatehouseTesting
import ProviderKit
import Testing

struct CustomTokenTests {
    private let legacy: LegacySystem

    init() throws { legacy = try LegacySystem() }

    @Test(
        arguments: [
            ["jti": .null], ["jti": ""], ["jti": 7], ["sub": .null], ["sub": ""], ["sub": true],
            ["sub": .string(String(repeating: "s", count: 256))], ["iat": .null], ["iat": 1_799_999_699],
        ] as [[String: JSONValue]])
    func `a token without its marks is refused`(changes: [String: JSONValue]) async throws {
        await #expect(throws: ProviderError.refused) { try await legacy.verdict(on: changes) }
    }

    @Test func `a token works once, within its age`() async throws {
        let identity = try await legacy.verdict(on: ["iat": 1_799_999_701])
        #expect(identity.singleUse?.expires == legacy.now.addingTimeInterval(120))
        #expect(identity.authenticatedAt == Date(timeIntervalSince1970: 1_799_999_701))
        let other = try await legacy.verdict(on: ["jti": "j-2"])
        #expect(identity.singleUse?.id != other.singleUse?.id)
        let older = try await legacy.verdict(on: ["iat": 1_799_999_000], settings: ["maximumAge": 1000])
        #expect(older.providerUid == "u-1")
    }

    @Test(
        arguments: [
            (true, true, true, true), (true, nil, true, false), (true, false, true, false),
            ("true", true, false, false),
            (1, true, false, false), (false, true, false, false), (.null, true, false, false),
        ] as [(JSONValue, Bool?, Bool, Bool)])
    func `an address is verified by truth, and trusted by settings`(
        claim: JSONValue, trust: Bool?, isVerified: Bool, isAuthoritative: Bool
    ) async throws {
        let identity = try await legacy.verdict(
            on: ["email_verified": claim], settings: ["trustEmail": trust.map { .bool($0) } ?? .null])
        #expect(identity.addresses.map(\.isVerified) == [isVerified])
        #expect(identity.addresses.map(\.isAuthoritative) == [isAuthoritative])
    }

    @Test func `claims have the names that settings give them`() async throws {
        let claims: JSONValue = [
            "providerUid": "user.id", "email": "https://legacy.example/mail", "emailVerified": .null,
            "displayName": "names.0", "phone": "tel", "phoneVerified": "telOK", "tier": "user.tier", "gone": "no.where",
        ]
        let identity = try await legacy.verdict(
            on: [
                "user": ["id": 4711, "tier": "gold"], "https://legacy.example/mail": "Eve@Example.com",
                "names": ["Eve"], "tel": "+33612345678", "telOK": true,
            ], settings: ["claims": claims, "trustEmail": true])
        #expect(identity.providerUid == "4711" && identity.displayName == "Eve")
        #expect(identity.addresses.map(\.address.value) == ["eve@example.com", "+33612345678"])
        #expect(identity.addresses.map(\.isVerified) == [false, true])
        #expect(identity.addresses.map(\.isAuthoritative) == [false, false])
        #expect(identity.profile == ["tier": "gold"])
    }

    @Test func `an address that is not as written is not verified`() async throws {
        let identity = try await legacy.verdict(on: ["email": "ada@\u{ff45}xample.com"], settings: ["trustEmail": true])
        let address = try #require(EmailAddress("ada@example.com"))
        #expect(
            identity.addresses == [AddressClaim(address: .email(address), isVerified: false, isAuthoritative: false)])
    }

    @Test func `malformed addresses are left out`() async throws {
        let identity = try await legacy.verdict(on: ["email": "not an address", "phone_number": "0612345678"])
        #expect(identity.addresses.isEmpty && identity.providerUid == "u-1")
    }

    @Test func `only allowed algorithms count`() async throws {
        await #expect(throws: ProviderError.refused) {
            try await legacy.verdict(settings: ["algorithms": ["RS256"]])
        }
    }

    @Test func `keys are named once`() throws {
        let error = #expect(throws: SettingsError.self) {
            try CustomTokenProvider.made(
                of: legacy.settings.merging(["jwksURL": "https://legacy.example/keys"]) { $1 },
                service: legacy.service, now: legacy.now)
        }
        #expect(error?.setting == "jwksURL")
    }
}
