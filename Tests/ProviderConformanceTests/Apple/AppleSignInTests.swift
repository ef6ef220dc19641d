import AppleProvider
import Foundation
import GatehouseTesting
import ProviderKit
import Testing

struct AppleSignInTests {
    private static let hash = "1b16b1df538ba12dc3f97edbb85caa7050d46c148134290feba80f8236c83db9"
    private let apple: FakeApple

    init() throws { apple = try FakeApple() }

    /// The nonce in the token, the nonce in the request, and whether each rule accepts them.
    ///
    /// `hash` is the SHA-256 of `n`.
    @Test(
        arguments: [
            (nil, nil, (required: false, optional: true, off: true)), (nil, "n", (false, false, true)),
            ("n", nil, (false, false, true)), ("n", "n", (true, true, true)), (Self.hash, "n", (true, true, true)),
            (Self.hash.uppercased(), "n", (false, false, true)), ("n", "", (false, false, true)),
            ("n", "m", (false, false, true)), ("n", Self.hash, (false, false, true)),
        ] as [(String?, String?, (required: Bool, optional: Bool, off: Bool))])
    func `a nonce belongs to its token`(
        claim: String?, presented: String?, taken: (required: Bool, optional: Bool, off: Bool)
    ) async throws {
        let token = try apple.token(["nonce": claim.map(JSONValue.string) ?? .null])
        for (rule, isTaken) in [(NonceRule.required, taken.required), (.optional, taken.optional), (.off, taken.off)] {
            let provider = try apple.provider(nonce: rule)
            let credential = try? await apple.signIn(
                token, at: provider, with: presented.map { ["nonce": .string($0)] } ?? [:])
            let native = try? await provider.verify(NativeToken(idToken: token, nonce: presented))
            #expect((credential != nil) == isTaken, "\(rule)")
            #expect((native != nil) == isTaken, "\(rule)")
        }
    }

    @Test func `a token with a nonce works once, a token without one repeatedly`() async throws {
        let provider = try apple.provider()
        let bare = try await apple.signIn(apple.token(), at: provider)
        #expect(bare.singleUse == nil)
        let marked = try await apple.signIn(apple.token(["nonce": "n"]), at: provider, with: ["nonce": "n"])
        #expect(marked.singleUse?.expires == apple.now.addingTimeInterval(600))
        let native = try await provider.verify(NativeToken(idToken: apple.token(["nonce": "n"]), nonce: "n"))
        #expect(native.singleUse == marked.singleUse)
        #expect(native.singleReauthentication == nil && marked.singleReauthentication == nil)
        let again = try await provider.verify(NativeToken(idToken: apple.token()))
        #expect(bare.singleReauthentication != nil && bare.singleReauthentication == again.singleReauthentication)
        let earlier = JSONValue.integer(Int64(apple.now.timeIntervalSince1970) - 60)
        let other = try await apple.signIn(apple.token(["iat": earlier]), at: provider)
        #expect(bare.singleReauthentication != other.singleReauthentication)
    }

    @Test func `a token is as old as the authentication that it states, else as itself`() async throws {
        let provider = try apple.provider()
        #expect(try await apple.signIn(apple.token(), at: provider).authenticatedAt == apple.now)
        let earlier = JSONValue.integer(Int64(apple.now.timeIntervalSince1970) - 60)
        let old = try await provider.verify(NativeToken(idToken: apple.token(["auth_time": earlier])))
        #expect(old.authenticatedAt == apple.now - 60)
    }

    @Test(
        arguments: [
            (["email_verified": true], true), (["email_verified": "true"], true), (["email_verified": false], false),
            (["email_verified": "false"], false), (["email_verified": 1], false), (["email_verified": .null], false),
            (["email_verified": "TRUE"], false),
        ] as [([String: JSONValue], Bool)])
    func `the signed address counts when Apple has verified it`(
        claims: [String: JSONValue], isVerified: Bool
    ) async throws {
        let identity = try await apple.signIn(
            apple.token(claims), at: apple.provider(), with: ["email": "eve@example.com"])
        let address = try #require(EmailAddress("ada@example.com"))
        #expect(
            identity.addresses == [
                AddressClaim(address: .email(address), isVerified: isVerified, isAuthoritative: isVerified)
            ])
    }

    @Test func `an address in the body is no evidence`() async throws {
        let identity = try await apple.signIn(
            apple.token(["email": .null]), at: apple.provider(), with: ["email": "eve@example.com"])
        #expect(identity.addresses.isEmpty)
        #expect(!"\(identity)".contains("eve@"))
    }

    @Test(arguments: [(true, true), ("true", true), (false, false), ("false", false)] as [(JSONValue, Bool)])
    func `a relay address is marked`(claim: JSONValue, isMarked: Bool) async throws {
        let identity = try await apple.signIn(apple.token(["is_private_email": claim]), at: apple.provider())
        #expect(identity.profile == (isMarked ? ["isPrivateEmail": true] : [:]))
    }

    @Test(
        arguments: [
            (["givenName": " Ada ", "familyName": "Lovelace"], "Ada Lovelace"), (["givenName": "Ada"], "Ada"),
            (["familyName": "Lovelace"], "Lovelace"), (["givenName": "", "familyName": "  "], nil), ([:], nil),
            (["givenName": "A\nB\u{7}C"], "A B C"),
            (["givenName": .string(String(repeating: "é", count: 300))], String(repeating: "é", count: 128)),
        ] as [([String: JSONValue], String?)])
    func `a name is only a name`(fullName: [String: JSONValue], expected: String?) async throws {
        let identity = try await apple.signIn(
            apple.token(), at: apple.provider(), with: ["fullName": .object(fullName)])
        #expect(identity.displayName == expected)
        #expect(identity.providerUid == "001.abc")
    }

    @Test func `only the configured clients' tokens count`() async throws {
        let provider = try apple.provider(clientIDs: ["net.example.app"])
        await #expect(throws: ProviderError.refused) { try await apple.signIn(apple.token(), at: provider) }
        let identity = try await apple.signIn(apple.token(["aud": "net.example.app"]), at: provider)
        #expect(identity.providerUid == "001.abc")
    }

    @Test(arguments: [String(repeating: "s", count: 256), ""])
    func `a subject has 1 to 255 bytes`(subject: String) async throws {
        await #expect(throws: ProviderError.refused) {
            try await apple.signIn(apple.token(["sub": .string(subject)]), at: apple.provider())
        }
    }

    @Test func `keys are Apple's, and RS256`() async throws {
        let other = try TestAuthority(.es256, keyID: "apple-1")
        let keys: JSONValue = ["keys": [other.publicKey]]
        apple.service.answer(FakeApple.url + "/auth/keys") { _ in .json(keys) }
        await #expect(throws: ProviderError.refused) {
            try await apple.signIn(other.token(apple.claims()), at: apple.provider())
        }
    }
}
