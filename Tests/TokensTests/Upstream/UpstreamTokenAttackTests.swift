import Crypto
import CryptoExtras
import Foundation
import ProviderKit
import Testing

@testable import Tokens

/// Tests that invalid tokens are refused.
struct UpstreamTokenAttackTests {
    private let es = IssuerKey.es256
    private var bench: UpstreamBench { UpstreamBench(publishing: IssuerKey.set(es.jwk())) }

    private func isRefused(_ token: String) async -> Bool { await bench.verify(token).isRefused }

    @Test func theGoodOneIsGood() async throws {
        #expect(await bench.verify(try ForeignToken.make(es)).isGood)
    }

    @Test(arguments: ["none", "None", "NONE", "nOnE", "", "HS256", "HS512", "ES256K", "RS1", "es256", "EdDSA"])
    func noOtherAlgorithm(_ name: String) async throws {
        let header = ForeignToken.header(es, ["alg": "\"\(name)\""])
        #expect(await isRefused(try ForeignToken.make(es, header: header)))
        let unsigned = ForeignToken.encoded(header) + "." + ForeignToken.encoded(ForeignToken.claims()) + "."
        #expect(await isRefused(unsigned))
    }

    /// The public key in any encoding is not accepted as an HMAC secret.
    @Test func noPublicKeyAsASecret() async throws {
        let rsa = try #require(IssuerKey.rs256)
        let der = Array(try _RSA.Signing.PublicKey(pemRepresentation: rsa.pem).derRepresentation)
        for secret in [Array(rsa.pem.utf8), Array((rsa.pem + "\n").utf8), der, Array(rsa.jwk().utf8)] {
            let input =
                ForeignToken.encoded(ForeignToken.header(rsa, ["alg": "\"HS256\""])) + "."
                + ForeignToken.encoded(ForeignToken.claims())
            let mac = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: SymmetricKey(data: secret))
            let token = input + "." + Base64URL.encode(Array(mac))
            let bench = UpstreamBench(publishing: IssuerKey.set(rsa.jwk()))
            #expect(await bench.verify(token).isRefused)
            #expect(await bench.verify(token, by: ForeignToken.rules(.pem(rsa.pem))).isRefused)
            #expect(bench.fetches == 0)
        }
    }

    /// A symmetric key in a published set is never used.
    @Test func noSymmetricKeyOfASet() async throws {
        let set = IssuerKey.set(#"{"kty":"oct","kid":"es","k":"c2VjcmV0","alg":"HS256"}"#)
        let input =
            ForeignToken.encoded(#"{"alg":"HS256","kid":"es"}"#) + "." + ForeignToken.encoded(ForeignToken.claims())
        let mac = HMAC<SHA256>.authenticationCode(
            for: Data(input.utf8), using: SymmetricKey(data: Array("secret".utf8)))
        #expect(await UpstreamBench(publishing: set).verify(input + "." + Base64URL.encode(Array(mac))).isRefused)
    }

    @Test func noKeyButThePublished() async throws {
        let mine = IssuerKey.p256(kid: "es")
        #expect(await isRefused(try ForeignToken.make(mine)))
        #expect(await isRefused(try ForeignToken.make(mine.named("mine"))))
        #expect(await isRefused(try ForeignToken.make(es, header: #"{"alg":"ES256","kid":7}"#)))
        #expect(await isRefused(try ForeignToken.make(es, header: #"{"alg":"ES256","kid":null}"#)))
    }

    /// Keys and URLs in a header are ignored.
    @Test func noKeyFromTheHeader() async throws {
        let mine = IssuerKey.p256(kid: "es")
        for more in [
            ["jwk": mine.jwk()], ["jku": "\"https://evil.example/keys\""], ["x5u": "\"https://evil.example/cert\""],
            ["x5c": "[\"MIIB\"]"],
        ] {
            let bench = bench
            let forged = try ForeignToken.make(mine, header: ForeignToken.header(mine, more))
            #expect(await bench.verify(forged).isRefused)
            #expect(bench.http.requests.map(\.url) == [ForeignToken.url])
            // A valid token with these header members is still accepted.
            #expect(await bench.verify(try ForeignToken.make(es, header: ForeignToken.header(es, more))).isGood)
        }
    }

    @Test func nothingTampered() async throws {
        let token = try ForeignToken.make(es)
        let parts = token.split(separator: ".").map(String.init)
        let other = ForeignToken.encoded(ForeignToken.claims(["sub": "\"you\""]))
        #expect(await isRefused("\(parts[0]).\(other).\(parts[2])"))
        let header = ForeignToken.encoded(ForeignToken.header(es, ["typ": "\"JWT\""]))
        #expect(await isRefused("\(header).\(parts[1]).\(parts[2])"))
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        for changed in [
            signature.map { $0 ^ 1 }, Array(signature.dropLast()), signature + [0], [], Array(repeating: 0, count: 64),
        ] {
            #expect(await isRefused("\(parts[0]).\(parts[1]).\(Base64URL.encode(changed))"))
        }
    }

    @Test func nothingInAnotherForm() async throws {
        let token = try ForeignToken.make(es)
        for text in [
            "", ".", "..", "...", token + ".", "." + token, token + ".x", token + "=", " " + token, token + "\n",
            "{\"payload\":\"\(token)\"}", String(repeating: "a", count: 40000), "é.é.é",
            token.replacing("e", with: "+"),
        ] {
            #expect(await isRefused(text), "\(text.prefix(60))")
        }
        let long = try ForeignToken.make(
            es, claims: ForeignToken.claims(["x": "\"\(String(repeating: "a", count: 30000))\""]))
        #expect(await isRefused(long))
    }

    @Test(arguments: [
        #"{"alg":"ES256","kid":"es","crit":["exp"],"exp":1}"#, #"{"alg":"ES256","kid":"es","crit":[]}"#,
        #"{"alg":"ES256","kid":"es","b64":false}"#, #"{"alg":"ES256","kid":"es","b64":0}"#,
        #"{"alg":"none","alg":"ES256","kid":"es"}"#, #"{"alg":"ES256","kid":"es","kid":"es"}"#,
        #"{"alg":["ES256"],"kid":"es"}"#, #"[]"#, #""ES256""#, "", "{", #"{"kid":"es"}"#,
    ])
    func noHeaderThatIsNotUnderstood(_ header: String) async throws {
        #expect(await isRefused(try ForeignToken.make(es, header: header)))
    }

    @Test(arguments: [
        "", "[]", "null", "{", "1e999", #"{"iss":"https://issuer.example","iss":"x"}"#,
        ForeignToken.claims(["is\\u0073": "\"https://issuer.example\""]),
        ForeignToken.claims(["name": #""a\u0000b""#]),
        ForeignToken.claims(["a": #"{"b":1,"b":2}"#]),
        ForeignToken.claims(["a": String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)]),
    ])
    func noClaimsThatAreNotClear(_ claims: String) async throws {
        #expect(await isRefused(try ForeignToken.make(es, claims: claims)))
    }

    /// A key is used only with its own algorithm, and an algorithm only with its own curve.
    @Test func keysSignByTheirOwnAlgorithmAlone() async throws {
        let rsa = try #require(IssuerKey.rs256)
        let pss = try #require(IssuerKey.ps256)
        for (key, jwk) in [
            (rsa, rsa.jwk(["alg": "PS256"])), (pss, pss.jwk(["alg": "RS256"])), (rsa, rsa.jwk(["alg": "RSA-OAEP"])),
            (rsa, rsa.jwk(["use": "enc"])), (IssuerKey.es384, es.named("es384").jwk()),
            (es, IssuerKey.es384.named("es").jwk()), (IssuerKey.edDSA, es.named("ed").jwk()),
        ] {
            let bench = UpstreamBench(publishing: IssuerKey.set(jwk))
            #expect(await bench.verify(try ForeignToken.make(key)).isRefused, "\(key.algorithm) \(jwk)")
        }
        // A key of P-256 whose header says ES384, and the other way round.
        for (key, name) in [(es, "ES384"), (IssuerKey.es384, "ES256")] {
            let bench = UpstreamBench(publishing: IssuerKey.set(key.jwk()))
            let token = try ForeignToken.make(key, header: ForeignToken.header(key, ["alg": "\"\(name)\""]))
            #expect(await bench.verify(token).isRefused)
        }
        let operations = es.jwk().dropLast() + #","key_ops":["sign"]}"#
        let bench = UpstreamBench(publishing: IssuerKey.set(String(operations)))
        #expect(await bench.verify(try ForeignToken.make(es)).isRefused)
    }

    @Test func theProvidersAlgorithmsAlone() async throws {
        let bench = bench
        #expect(await bench.verify(try ForeignToken.make(es), by: ForeignToken.rules(.pem(es.pem), [.rs256])).isRefused)
        #expect(await bench.verify(try ForeignToken.make(es), by: ForeignToken.rules(.pem(es.pem), [])).isRefused)
        #expect(bench.fetches == 0)
    }

    @Test func noShortKey() async throws {
        // The library does not generate keys of 1024 bits, so the modulus is taken from a longer one.
        let rsa = try #require(IssuerKey.rs256)
        let modulus = try #require(Base64URL.decode((rsa.members["n"] ?? "").utf8))
        let short = rsa.jwk(["n": Base64URL.encode(modulus.prefix(128))])
        #expect(throws: UnreadableKeys.self) { try UpstreamBench().verifier.check(.set(IssuerKey.set(short))) }
    }
}
