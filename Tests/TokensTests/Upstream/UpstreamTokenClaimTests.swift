import Foundation
import ProviderKit
import Testing

@testable import Tokens

/// Tests the checks of a token's issuer, audience and times.
struct UpstreamTokenClaimTests {
    private static let now = ForeignToken.now
    private let key = IssuerKey.es256

    private func verify(
        _ claims: [String: String?], adjust: (inout TokenRules) -> Void = { _ in }
    ) async throws -> Result<TokenClaims, ProviderError> {
        let bench = UpstreamBench(publishing: IssuerKey.set(key.jwk()))
        var rules = ForeignToken.rules()
        adjust(&rules)
        let result = await bench.verify(try ForeignToken.make(key, claims: ForeignToken.claims(claims)), by: rules)
        // Tokens with invalid claims are refused without a fetch of keys.
        #expect(bench.fetches == (result.isGood ? 1 : 0))
        return result
    }

    @Test(
        arguments: [
            ["iss": "\"https://evil.example\""], ["iss": "\"https://issuer.example/\""], ["iss": nil], ["iss": "7"],
            ["iss": "[\"https://issuer.example\"]"], ["aud": "\"other\""], ["aud": "[]"], ["aud": nil],
            ["aud": "[\"other\",7]"], ["aud": "{\"client\":1}"], ["exp": "\(now)"], ["exp": "\(now - 1)"], ["exp": nil],
            ["exp": "null"], ["exp": "\"\(now + 300)\""], ["exp": "1e300"], ["exp": "-1"], ["exp": "1e400"],
            ["exp": "99999999999999999999999999"], ["exp": "9223372036854775807"], ["exp": "true"],
            ["nbf": "\(now + 6)"], ["nbf": "\"\""], ["nbf": "1e300"], ["nbf": "null"], ["iat": "\(now + 6)"],
            ["iat": "-9223372036854775808"], ["iat": "\"now\""], ["iat": "1e308"],
        ] as [[String: String?]])
    func refuses(_ claims: [String: String?]) async throws {
        #expect(try await verify(claims).isRefused, "\(claims)")
    }

    @Test(arguments: [["iss": "\"\u{212A}\""], ["aud": "\"\u{212A}\""], ["aud": "[\"other\",\"\u{212A}\"]"]])
    func `the Kelvin sign is not the letter K`(_ claims: [String: String]) async throws {
        func verify(_ claims: [String: String]) async throws -> Result<TokenClaims, ProviderError> {
            let standard = ["iss": "\"K\"", "aud": "\"K\""].merging(claims) { $1 }
            return try await self.verify(standard) { rules in
                rules.issuers = ["K"]
                rules.audiences = ["K"]
            }
        }
        #expect(try await verify([:]).isGood)
        #expect(try await verify(claims).isRefused)
    }

    @Test(
        arguments: [
            [:], ["aud": "[\"other\",\"client\"]"], ["exp": "\(now + 1)"], ["exp": "\(now).5"], ["nbf": "\(now + 5)"],
            ["iat": "\(now + 5)"], ["iat": nil], ["nbf": "0"], ["exp": "1.8e9001"],
        ] as [[String: String?]])
    func takes(_ claims: [String: String?]) async throws {
        let isHuge = claims["exp"] == "1.8e9001"
        #expect(try await verify(claims).isGood != isHuge, "\(claims)")
    }

    @Test func expiryIsJudgedWhereItIsThere() async throws {
        #expect(try await verify(["exp": nil]) { $0.requiresExpiry = false }.isGood)
        #expect(try await verify(["exp": "\(Self.now)"]) { $0.requiresExpiry = false }.isRefused)
        #expect(try await verify(["exp": "null"]) { $0.requiresExpiry = false }.isRefused)
    }

    @Test func agesHaveLimits() async throws {
        #expect(try await verify(["iat": "\(Self.now - 60)"]) { $0.maximumAge = .seconds(60) }.isGood)
        #expect(try await verify(["iat": "\(Self.now - 61)"]) { $0.maximumAge = .seconds(60) }.isRefused)
        #expect(try await verify(["iat": nil]) { $0.maximumAge = .seconds(60) }.isRefused)
        #expect(try await verify(["iat": "0"]) { $0.maximumAge = .seconds(60) }.isRefused)
        #expect(try await verify(["exp": "\(Self.now + 90)"]) { $0.longestLifetime = .seconds(100) }.isGood)
        #expect(try await verify(["exp": "\(Self.now + 91)"]) { $0.longestLifetime = .seconds(100) }.isRefused)
        #expect(try await verify(["iat": nil]) { $0.longestLifetime = .seconds(1000) }.isRefused)
    }

    @Test(
        arguments: [
            ("\"7f1c-a\"", "https://login.example/7f1c-a/v2", true),
            ("\"7f1c-a\"", "https://login.example/other/v2", false),
            ("\"\"", "https://login.example//v2", false), ("\"a/../b\"", "https://login.example/a/../b/v2", false),
            ("\"{tenantid}\"", "https://login.example/{tenantid}/v2", false),
            (nil, "https://login.example/{tenantid}/v2", false), ("7", "https://login.example/7/v2", false),
        ] as [(String?, String, Bool)])
    func aTenantStandsInTheIssuer(_ tenant: String?, _ issuer: String, isGood: Bool) async throws {
        let result = try await verify(["tid": tenant, "iss": "\"\(issuer)\""]) {
            $0.issuers = ["https://login.example/{tenantid}/v2"]
        }
        #expect(result.isGood == isGood)
    }

    @Test func whatNamesNobodyAcceptsNobody() async throws {
        #expect(try await verify([:]) { $0.issuers = [] }.isRefused)
        #expect(try await verify([:]) { $0.audiences = [] }.isRefused)
    }
}
