import Accounts
import Foundation
import Testing

@testable import Tokens

struct SigningKeyTests {
    static let kinds: [(SigningAlgorithm, Int)] = [(.rs256, 2048), (.rs256, 3072), (.es256, 0), (.edDSA, 0)]

    @Test(arguments: kinds)
    func survivesExport(algorithm: SigningAlgorithm, bits: Int) async throws {
        let key = try await SigningKey.generate(algorithm, bits: bits)
        let copy = try SigningKey(algorithm, privateKey: key.exported)
        #expect(copy.kid == key.kid)
        #expect(copy.algorithm == algorithm)
        #expect(copy.bits == bits)
        #expect(copy.publicKey.json == key.publicKey.json)
        #expect(key.isValid(try copy.sign([1, 2, 3]), for: [1, 2, 3]))
    }

    @Test(arguments: kinds)
    func acceptsItsOwnSignatureAlone(algorithm: SigningAlgorithm, bits: Int) async throws {
        let key = try await SigningKey.generate(algorithm, bits: bits)
        let other = try await SigningKey.generate(algorithm, bits: bits)
        let signature = try key.sign([1, 2, 3])
        var changed = signature
        changed[0] ^= 1
        #expect(key.isValid(signature, for: [1, 2, 3]))
        #expect(!key.isValid(signature, for: [1, 2, 4]))
        #expect(!key.isValid(changed, for: [1, 2, 3]))
        #expect(!other.isValid(signature, for: [1, 2, 3]))
        for length in [0, 1, 63, signature.count - 1] {
            #expect(!key.isValid(Array(signature.prefix(length)), for: [1, 2, 3]))
        }
        #expect(!key.isValid(signature + [0], for: [1, 2, 3]))
        #expect(!key.isValid(Array(repeating: 0, count: signature.count), for: [1, 2, 3]))
    }

    @Test(arguments: [0, 512, 1024, 2047, 2049, 8192, -1])
    func refusesOtherLengths(bits: Int) async {
        await #expect(throws: TokensError.unsupportedKeySize(bits: bits)) {
            try await SigningKey.generate(.rs256, bits: bits)
        }
    }

    @Test(arguments: SigningAlgorithm.allCases, [[], [0], Array(repeating: 0, count: 31), Array("-----BEGIN".utf8)])
    func refusesWhatIsNoKey(algorithm: SigningAlgorithm, bytes: [UInt8]) {
        #expect(throws: TokensError.malformedSigningKey(algorithm)) {
            try SigningKey(algorithm, privateKey: bytes)
        }
    }

    /// RFC 7638 section 3.1.
    @Test func rsaThumbprint() throws {
        let modulus = """
            0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3o\
            knjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZ\
            Hzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-k\
            EgU8awapJzKnqDKgw
            """
        let bytes = try #require(Base64URL.decode(modulus.utf8))
        let key = PublicJWK.rsa(modulus: Data(bytes), exponent: Data([1, 0, 1]))
        #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    /// RFC 8037 appendices A.1 to A.3.
    @Test func ed25519Thumbprint() throws {
        let seed = try #require(Base64URL.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A".utf8))
        let key = try SigningKey(.edDSA, privateKey: seed)
        #expect(key.publicKey.json.contains(#""x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#))
        #expect(key.kid == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }
}
