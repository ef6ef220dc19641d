import Crypto
import Foundation
import ProviderKit
import Testing

@testable import Tokens

/// Tests key sets in all their forms.
struct UpstreamKeySetTests {
    private static var all: [IssuerKey] {
        [.rs256, .ps256].compactMap { $0 } + [.es256, .es384, .es512, .edDSA]
    }

    @Test func eachAlgorithmInEachForm() async throws {
        #expect(Self.all.count == 6)
        for key in Self.all {
            let token = try ForeignToken.make(key)
            let bench = UpstreamBench(publishing: IssuerKey.set(key.jwk(["use": "sig", "alg": key.algorithm])))
            #expect(await bench.verify(token).isGood, "\(key.algorithm)")
            for keys in [TokenKeys.set(IssuerKey.set(key.jwk())), .set(key.jwk()), .pem(key.pem)] {
                try bench.verifier.check(keys)
                #expect(await bench.verify(token, by: ForeignToken.rules(keys)).isGood, "\(key.algorithm)")
            }
        }
    }

    @Test func withoutAnIDThereMustBeNoChoice() async throws {
        let key = IssuerKey.es256
        let token = try ForeignToken.make(key, header: #"{"alg":"ES256"}"#)
        let alone = IssuerKey.set(key.jwk(), IssuerKey.edDSA.jwk(), IssuerKey.es384.jwk())
        #expect(await UpstreamBench(publishing: alone).verify(token).isGood)
        #expect(await UpstreamBench(publishing: IssuerKey.set(key.jwk(hasKid: false))).verify(token).isGood)
        let two = IssuerKey.set(key.jwk(), IssuerKey.p256(kid: "other").jwk())
        #expect(await UpstreamBench(publishing: two).verify(token).isRefused)
        #expect(await UpstreamBench(publishing: IssuerKey.set()).verify(token).isRefused)
    }

    @Test func aHundredKeysAreEnough() async throws {
        let key = IssuerKey.es256
        let others = (0..<100).map { key.named("k\($0)").jwk() }
        let set = #"{"keys":[\#((others + [key.jwk()]).joined(separator: ","))]}"#
        let bench = UpstreamBench(publishing: set)
        #expect(await bench.verify(try ForeignToken.make(key.named("k99"))).isGood)
        #expect(await bench.verify(try ForeignToken.make(key)).isRefused)
    }

    @Test(arguments: [
        (TokenKeys.set(""), "not JSON"), (.set("["), "not JSON"), (.set("[]"), "not JSON"), (.set("{}"), "neither"),
        (.set(#"{"keys":[]}"#), "none for signatures"), (.set(#"{"keys":[1,{}]}"#), "none for signatures"),
        (.set(#"{"kty":"oct","k":"AAAA"}"#), "none for signatures"),
        (.set(#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#), "none for signatures"),
        (.set(IssuerKey.es256.jwk(["d": "AAAA"])), "private"),
        (.set(IssuerKey.es256.jwk(["x": String(repeating: "A", count: 43)])), "none for signatures"),
        (.pem(""), "not in PEM"), (.pem("hello"), "not in PEM"),
        (.pem("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), "can't be read"),
        (.pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "not a public key"),
        (.pem(P256.Signing.PrivateKey().pemRepresentation), "private key"),
    ])
    func saysWhatIsWrong(_ keys: TokenKeys, reason: String) async {
        let bench = UpstreamBench()
        let error = #expect(throws: UnreadableKeys.self) { try bench.verifier.check(keys) }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        let token = (try? ForeignToken.make(IssuerKey.es256)) ?? ""
        #expect(await bench.verify(token, by: ForeignToken.rules(keys)).isRefused)
    }

    @Test func publishedKeysAreNotFetchedByACheck() throws {
        let bench = UpstreamBench()
        try bench.verifier.check(.published(url: ForeignToken.url))
        #expect(bench.fetches == 0)
    }
}
