import Foundation
import ProviderKit
import Testing

@testable import OpenIDConnectProvider

struct NativeTokenTests {
    private let world = World()

    private func verify(
        _ claims: [String: JSONValue] = [:], nonce: String? = nil, accessToken: String? = nil,
        by provider: OpenIDConnectProvider
    ) async throws -> VerifiedIdentity {
        let token = try world.service.sign(World.claims.with(claims))
        return try await provider.verify(NativeToken(idToken: token, nonce: nonce, accessToken: accessToken))
    }

    @Test func `a token with a nonce works once`() async throws {
        let provider = try world.provider()
        let identity = try await verify(nonce: "n-once", by: provider)
        #expect(identity.providerUid == "u-1" && identity.email == "jo@example.com verified")
        let use = try #require(identity.singleUse)
        #expect(use.expires == Date(timeIntervalSince1970: 1_700_003_600))
        #expect(try await verify(nonce: "n-once", by: provider).singleUse == use, "signed again")
        #expect(try await verify(["sub": "u-2"], nonce: "n-once", by: provider).singleUse != use, "another token")
        #expect(identity.tokens == nil)
    }

    @Test func `without a nonce a token works repeatedly, but re-authenticates once`() async throws {
        let provider = try world.provider()
        let bare = try await verify(["nonce": nil], by: provider)
        #expect(bare.singleUse == nil)
        let use = try #require(bare.singleReauthentication)
        #expect(use.expires == Date(timeIntervalSince1970: 1_700_003_600))
        #expect(try await verify(["nonce": nil], by: provider).singleReauthentication == use, "signed again")
        for change: [String: JSONValue] in [["iat": 1_699_999_900], ["sub": "u-2"], ["auth_time": 1_699_999_000]] {
            let other = try await verify(change.merging(["nonce": nil]) { $1 }, by: provider)
            #expect(other.singleReauthentication != use, "\(change)")
        }
        #expect(try await verify(nonce: "n-once", by: provider).singleReauthentication == nil, "it is used up anyway")
    }

    @Test(
        arguments: [
            (1_699_999_000, 1_699_999_500, 1_699_999_000), (nil, 1_699_999_500, 1_699_999_500),
            (0, 1_699_999_500, 1_699_999_500), (1_700_000_030, 1_699_999_500, 1_700_000_000), (nil, nil, 0),
        ] as [(JSONValue, JSONValue, Double)])
    func `a token is as old as the authentication that it states, else as itself`(
        _ authTime: JSONValue, _ issuedAt: JSONValue, _ provenAt: Double
    ) async throws {
        let identity = try await verify(["auth_time": authTime, "iat": issuedAt, "nonce": nil], by: world.provider())
        #expect(identity.authenticatedAt == Date(timeIntervalSince1970: provenAt))
    }

    @Test(
        arguments: [
            (nil, "n", nil, false), (nil, "n", "m", false), (nil, nil, "n", false), (nil, nil, nil, true),
            (nil, "n", "n", true), ("required", nil, nil, false), ("required", "n", "n", true), ("off", "n", nil, true),
            ("off", "n", "m", true),
        ] as [(String?, String?, String?, Bool)])
    func `the nonce must match the rule and the token`(
        _ rule: String?, _ claim: String?, _ presented: String?, _ isTaken: Bool
    ) async throws {
        let provider = try world.provider { $0.nonce = rule.flatMap { NonceRule(rawValue: $0) } }
        let claims: [String: JSONValue] = ["nonce": claim.map { .string($0) } ?? .null]
        let identity = try? await verify(claims, nonce: presented, by: provider)
        #expect((identity != nil) == isTaken)
    }

    @Test(
        arguments: [
            (["aud": "client"], true), (["aud": "ios"], true), (["aud": "another"], false),
            (["aud": "client", "azp": "android"], true), (["aud": ["client", "another"]], false),
            (["aud": ["client", "another"], "azp": "another"], false),
            (["aud": ["client", "another"], "azp": "ios"], true), (["iss": "https://other.example"], false),
            (["exp": 1_699_999_999], false),
        ] as [([String: JSONValue], Bool)])
    func `the audience of a token`(_ claims: [String: JSONValue], _ isTaken: Bool) async throws {
        let provider = try world.provider { $0.audiences = ["ios"] }
        let identity = try? await verify(claims, nonce: "n-once", by: provider)
        #expect((identity != nil) == isTaken)
    }

    @Test func `a token of a further client is refused in a redirect flow`() async throws {
        let provider = try world.provider { $0.audiences = ["ios"] }
        await #expect(throws: ProviderError.refused) { try await world.signIn(with: ["aud": "ios"], to: provider) }
    }

    @Test func `the access token serves for what is left out`() async throws {
        let endpoint = "https://id.example/userinfo"
        let provider = try world.provider()
        world.service.answer(endpoint, ["sub": "u-1", "email": "jo@example.com", "email_verified": true])
        #expect(try await verify(["email": nil], nonce: "n-once", by: provider).email == nil)
        #expect(world.service.requests(to: endpoint).isEmpty)
        let identity = try await verify(["email": nil], nonce: "n-once", accessToken: "at", by: provider)
        #expect(identity.email == "jo@example.com verified")
        world.service.answer(endpoint, ["sub": "u-2", "email": "jo@example.com", "email_verified": true])
        await #expect(throws: ProviderError.refused) {
            try await verify(["email": nil], nonce: "n-once", accessToken: "at", by: provider)
        }
        world.service.answer(endpoint, status: 401, [:])
        await #expect(throws: ProviderError.refused) {
            try await verify(["email": nil], nonce: "n-once", accessToken: "at", by: provider)
        }
    }

    @Test(arguments: ["", "a\nb", "a b", "a\u{7F}", "é", String(repeating: "a", count: 8193)])
    func `an access token that is no bearer is refused and sent nowhere`(accessToken: String) async throws {
        let provider = try world.provider()
        await #expect(throws: ProviderError.refused) {
            try await verify(["email": nil], nonce: "n-once", accessToken: accessToken, by: provider)
        }
        #expect(world.service.requests(to: "https://id.example/userinfo").isEmpty)
        #expect(try await verify(nonce: "n-once", accessToken: accessToken, by: provider).email != nil, "not needed")
    }

    @Test func `Google's short name for itself`() async throws {
        let document = World.discovery.with(["issuer": "https://accounts.google.com"])
        world.service.answer("https://accounts.google.com/.well-known/openid-configuration", document)
        let provider = try world.provider { $0.issuer = "https://accounts.google.com" }
        let identity = try await verify(["iss": "accounts.google.com"], nonce: "n-once", by: provider)
        #expect(identity.providerUid == "u-1")
    }

    @Test func `Microsoft's tokens are of the tenant that they name`() async throws {
        let issuer = "https://login.microsoftonline.com/common/v2.0"
        let template: JSONValue = "https://login.microsoftonline.com/{tenantid}/v2.0"
        world.service.answer(issuer + "/.well-known/openid-configuration", World.discovery.with(["issuer": template]))
        let provider = try world.provider { $0.issuer = issuer }
        let own: JSONValue = "https://login.microsoftonline.com/t-1/v2.0"
        #expect(try await verify(["iss": own, "tid": "t-1"], nonce: "n-once", by: provider).profile["tid"] == "t-1")
        await #expect(throws: ProviderError.refused) {
            try await verify(["iss": own, "tid": "t-2"], nonce: "n-once", by: provider)
        }
    }
}
