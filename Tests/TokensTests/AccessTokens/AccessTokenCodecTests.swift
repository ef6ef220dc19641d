import Accounts
import Foundation
import Testing

@testable import Tokens

struct AccessTokenCodecTests {
    private let installation: Installation
    private let ring: KeyRing
    private let codec: AccessTokenCodec

    init() async throws {
        installation = try await Installation()
        ring = installation.keyRing()
        codec = AccessTokenCodec(keys: ring, time: installation.time)
    }

    private func prepared(
        _ id: Application.ID = 1, _ algorithm: SigningAlgorithm = .es256, bits: Int = 2048
    ) async throws -> Application {
        let application = Application.sample(id, algorithm, bits: bits)
        try await ring.prepare(application)
        return application
    }

    private func payload(of token: String) throws -> [String: Any] {
        let part = token.split(separator: ".")[1]
        let bytes = try #require(Base64URL.decode(part.utf8))
        return try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test(arguments: SigningKeyTests.kinds)
    func givesBackWhatItSigned(algorithm: SigningAlgorithm, bits: Int) async throws {
        let application = try await prepared(1, algorithm, bits: bits)
        let claims = installation.claims(in: application)
        let token = try await codec.sign(claims, for: application)
        for _ in 1...2 {
            #expect(try await codec.verify(token, for: application) == claims)
        }
    }

    @Test(arguments: SigningKeyTests.kinds)
    func isValidUnderThePublishedKeyAlone(algorithm: SigningAlgorithm, bits: Int) async throws {
        let application = try await prepared(1, algorithm, bits: bits)
        let token = try await codec.sign(installation.claims(in: application), for: application)
        let verifier = try await JWKVerifier(ring.keySet(of: application))
        #expect(try verifier.isValid(token))
        #expect(verifier.keys.map(\.use) == ["sig"])
    }

    @Test func claimsStandUnderTheContractsNames() async throws {
        let application = try await prepared()
        var claims = installation.claims(in: application)
        claims.email = nil
        claims.emailVerified = nil
        claims.phone = "+491701234567"
        claims.phoneVerified = true
        let payload = try payload(of: await codec.sign(claims, for: application))
        let uid = claims.uid.uuidString.lowercased()
        let expected: [String: Any] = [
            "iss": "https://auth.example", "aud": "demo", "sub": uid, "uid": uid,
            "iat": claims.issuedAt, "exp": claims.expiresAt, "auth_time": claims.authenticatedAt,
            "jti": claims.tokenID.uuidString.lowercased(), "sid": claims.sessionID.uuidString.lowercased(),
            "amr": ["pwd"], "provider": "email", "providerUid": "a@b.example",
            "phone": "+491701234567", "phone_verified": true,
        ]
        #expect(payload as NSDictionary == expected as NSDictionary)
    }

    @Test(arguments: [
        "", "\"", "\\", "\\\"}", "\u{0}", "\u{1}\u{1f}\u{7f}", "\r\n\t\u{8}\u{c}", "/", "é", "e\u{301}", "👩‍👩‍👧",
        "\u{2028}",
        "{\"a\":[1]}", String(repeating: "x", count: 1500),
    ])
    func everyTextSurvives(text: String) async throws {
        let application = try await prepared()
        var claims = installation.claims(in: application, providerUid: text)
        claims.methods = [text, text]
        let token = try await codec.sign(claims, for: application)
        let read = try await codec.verify(token, for: application)
        #expect(read == claims)
        #expect(Array(read.providerUid.utf8) == Array(text.utf8))
        #expect(try payload(of: token)["providerUid"] as? String == text)
    }

    @Test func theGenerationStandsThereOnceThereIsOne() async throws {
        let application = try await prepared()
        var claims = installation.claims(in: application)
        claims.generation = 7
        let token = try await codec.sign(claims, for: application)
        #expect(try payload(of: token)["gen"] as? Int == 7)
        #expect(try await codec.verify(token, for: application).generation == 7)
    }

    @Test func noMethodsSurviveToo() async throws {
        let application = try await prepared()
        var claims = installation.claims(in: application)
        claims.methods = []
        #expect(try await codec.verify(codec.sign(claims, for: application), for: application) == claims)
    }

    @Test func aRotatedKeysTokensAreGoodUntilTheyExpire() async throws {
        let application = try await prepared()
        let token = try await codec.sign(installation.claims(in: application), for: application)
        try await ring.rotate(application)
        installation.time.advance(by: 3599)
        try await ring.reloadAll()
        let fresh = AccessTokenCodec(keys: ring, time: installation.time)
        _ = try await fresh.verify(token, for: application)
        installation.time.advance(by: 1)
        await #expect(throws: AccountsError.invalidToken) { try await fresh.verify(token, for: application) }
    }

    @Test func aReplicaThatRotatedFirstIsBelieved() async throws {
        let application = try await prepared()
        let other = installation.keyRing()
        try await other.rotate(application)
        installation.time.advance(by: 1)
        let signer = AccessTokenCodec(keys: other, time: installation.time)
        let token = try await signer.sign(installation.claims(in: application), for: application)
        _ = try await codec.verify(token, for: application)
    }

    // MARK: - Cached tokens

    @Test func expiryIsLookedAtOnEveryHit() async throws {
        let application = try await prepared()
        let token = try await codec.sign(installation.claims(in: application, lifetime: 60), for: application)
        _ = try await codec.verify(token, for: application)
        installation.time.advance(by: 59)
        _ = try await codec.verify(token, for: application)
        installation.time.advance(by: 1)
        await #expect(throws: AccountsError.invalidToken) { try await codec.verify(token, for: application) }
    }

    @Test func aStolenKeysTokensAreRefusedOnTheNextHit() async throws {
        let application = try await prepared()
        let token = try await codec.sign(installation.claims(in: application), for: application)
        _ = try await codec.verify(token, for: application)
        try await ring.rotate(application, overlap: .zero)
        await #expect(throws: AccountsError.invalidToken) { try await codec.verify(token, for: application) }
    }

    @Test func aHitIsOneForItsApplicationAlone() async throws {
        let (application, other) = (try await prepared(1), try await prepared(2))
        let token = try await codec.sign(installation.claims(in: application), for: application)
        _ = try await codec.verify(token, for: application)
        await #expect(throws: AccountsError.invalidToken) { try await codec.verify(token, for: other) }
    }

    @Test(arguments: [("https://other.example", "demo"), ("https://auth.example", "other")])
    func aHitIsMeasuredByTheConfigurationOfNow(issuer: String, audience: String) async throws {
        let application = try await prepared()
        let token = try await codec.sign(installation.claims(in: application), for: application)
        _ = try await codec.verify(token, for: application)
        await #expect(throws: AccountsError.invalidToken) {
            try await codec.verify(token, for: .sample(1, issuer: issuer, audience: audience))
        }
    }
}
