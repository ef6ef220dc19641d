import Crypto
import Foundation
import ProviderKit
import Testing

@testable import Tokens

struct UpstreamTokenSignerTests {
    @Test func signsWhatTheOtherSideBelieves() async throws {
        let key = P256.Signing.PrivateKey()
        let claims: [String: JSONValue] = [
            "iss": .string(ForeignToken.issuer), "aud": .string(ForeignToken.audience),
            "exp": .integer(Int64(ForeignToken.now + 60)),
        ]
        let token = try UpstreamTokenSigner().sign(claims, key: key.pemRepresentation, keyID: "a\"b")
        let verified = await UpstreamBench().verify(
            token, by: ForeignToken.rules(.pem(key.publicKey.pemRepresentation), [.es256]))
        #expect(try verified.get().all == claims)
        let header = try #require(token.split(separator: ".").first.flatMap { Base64URL.decode($0.utf8) })
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"a\"b","typ":"JWT"}"#)
    }

    @Test(arguments: [
        "", "x", P256.Signing.PrivateKey().publicKey.pemRepresentation, P384.Signing.PrivateKey().pemRepresentation,
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ])
    func signsWithNothingElse(_ key: String) {
        #expect(throws: UnreadableKeys.self) { try UpstreamTokenSigner().sign([:], key: key, keyID: "k") }
    }
}
