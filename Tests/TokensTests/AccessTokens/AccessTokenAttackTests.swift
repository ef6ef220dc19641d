import Accounts
import Crypto
import Foundation
import Testing

@testable import Tokens

/// Tests that forged and altered tokens are refused.
struct AccessTokenAttackTests {
    private let installation: Installation
    private let ring: KeyRing
    private let codec: AccessTokenCodec
    private let application = Application.sample()
    private let key: SigningKey
    private let good: String

    init() async throws {
        installation = try await Installation()
        ring = installation.keyRing()
        codec = AccessTokenCodec(keys: ring, time: installation.time)
        try await ring.prepare(application)
        key = try await ring.signingKey(of: application.id)
        good = try await codec.sign(installation.claims(in: application), for: application)
    }

    private func expectRefusal(_ token: String, _ comment: Comment? = nil) async {
        await #expect(throws: AccountsError.invalidToken, comment) {
            try await codec.verify(token, for: application)
        }
    }

    private var goodPayload: [UInt8] {
        get throws { try #require(CompactJWS(good)).payload }
    }

    /// Signs any payload with the application's key.
    private func forge(header: String? = nil, payload: [UInt8]) throws -> String {
        let header = header ?? #"{"alg":"ES256","kid":"\#(key.kid)","typ":"JWT"}"#
        let input = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(payload))"
        return "\(input).\(Base64URL.encode(try key.sign(Array(input.utf8))))"
    }

    @Test func theForgeMakesGoodTokens() async throws {
        #expect(throws: Never.self) { try goodPayload }
        _ = try await codec.verify(forge(payload: goodPayload), for: application)
    }

    // MARK: - Headers

    @Test(arguments: [
        #"{"alg":"none","kid":"KID","typ":"JWT"}"#, #"{"alg":"None","kid":"KID","typ":"JWT"}"#,
        #"{"alg":"HS256","kid":"KID","typ":"JWT"}"#, #"{"alg":"RS384","kid":"KID","typ":"JWT"}"#,
        #"{"alg":"PS256","kid":"KID","typ":"JWT"}"#, #"{"alg":"RS256","kid":"KID","typ":"JWT"}"#,
        #"{"alg":"ES256","kid":"KID","typ":"erasure+jwt"}"#, #"{"alg":"ES256","kid":"KID"}"#,
        #"{"alg":"ES256","typ":"JWT"}"#, #"{"kid":"KID","typ":"JWT"}"#, "{}", "", "[]", "null", "\u{0}",
        #"{"alg":"ES256","kid":"KID","typ":"JWT","crit":["exp"]}"#,
        #"{"alg":"ES256","kid":"KID","typ":"JWT","b64":false,"crit":["b64"]}"#,
        #"{"alg":"ES256","kid":"KID","typ":"JWT","jku":"https://evil.example/keys"}"#,
        #"{"alg":"ES256","kid":"KID","typ":"JWT","x5u":"https://evil.example/cert"}"#,
        #"{"alg":"ES256","kid":"KID","typ":"JWT","jwk":{"kty":"RSA","n":"AQAB","e":"AQAB"}}"#,
        #"{"alg":"ES256","kid":"KID","kid":"KID","typ":"JWT"}"#,
        #"{"alg":"none","alg":"ES256","kid":"KID","typ":"JWT"}"#,
        #"{"alg":"ES256","kid":"KID","typ":"JWT","alg":"none"}"#, #"{"alg":"ES256","kid":["KID"],"typ":"JWT"}"#,
        #"{"alg":"ES256","kid":"../../etc/passwd","typ":"JWT"}"#, #"{"alg":"ES256","kid":"' OR 1=1 --","typ":"JWT"}"#,
        #"{"alg":"ES256","kid":"","typ":"JWT"}"#, #" {"alg":"ES256","kid":"KID","typ":"JWT"}"#,
        #"{"alg":"ES256", "kid":"KID","typ":"JWT"}"#, #"{"typ":"JWT","alg":"ES256","kid":"KID"}"#,
    ])
    func onlyOurOwnHeaderIsBelieved(header: String) async throws {
        let header = header.replacing("KID", with: key.kid)
        await expectRefusal(try forge(header: header, payload: goodPayload))
    }

    @Test func aTokenWithoutSignatureIsRefused() async throws {
        let parts = good.split(separator: ".")
        let none = Base64URL.encode(Array(#"{"alg":"none","kid":"\#(key.kid)","typ":"JWT"}"#.utf8))
        await expectRefusal("\(none).\(parts[1]).")
        await expectRefusal("\(parts[0]).\(parts[1]).")
    }

    /// RFC 8725 section 2.1: the public key must not be accepted as an HMAC secret.
    @Test func thePublicKeyIsNoSecret() async throws {
        let application = Application.sample(2, .rs256, bits: 2048)
        try await ring.prepare(application)
        let key = try await ring.signingKey(of: application.id)
        let payload = installation.claims(in: application).payload
        let header = Base64URL.encode(Array(#"{"alg":"HS256","kid":"\#(key.kid)","typ":"JWT"}"#.utf8))
        for start in [header, String(decoding: key.header, as: UTF8.self)] {
            let input = "\(start).\(Base64URL.encode(payload))"
            for secret in [key.publicKey.json, String(decoding: try await ring.keySet(of: application), as: UTF8.self)]
            {
                let code = HMAC<SHA256>.authenticationCode(
                    for: Array(input.utf8), using: SymmetricKey(data: Array(secret.utf8)))
                await #expect(throws: AccountsError.invalidToken) {
                    try await codec.verify("\(input).\(Base64URL.encode(Array(code)))", for: application)
                }
            }
        }
    }

    @Test func aForeignKeyIsRefusedUnderItsOwnKidAndUnderOurs() async throws {
        let foreign = try await SigningKey.generate(.es256, bits: 0)
        for header in [key.header, foreign.header] {
            let input = header + [UInt8(ascii: ".")] + Array(Base64URL.encode(try goodPayload).utf8)
            let signature = Base64URL.encode(try foreign.sign(input))
            await expectRefusal("\(String(decoding: input, as: UTF8.self)).\(signature)")
        }
    }

    @Test func anotherApplicationsKeyIsRefused() async throws {
        let other = Application.sample(2)
        try await ring.prepare(other)
        let claims = installation.claims(in: application)
        await expectRefusal(try await codec.sign(claims, for: other))
    }

    // MARK: - Texts

    @Test func noOtherTextOfTheTokenIsAccepted() async throws {
        let parts = good.split(separator: ".").map(String.init)
        let (header, payload, signature) = (parts[0], parts[1], parts[2])
        // The last character has four unused bits, so fifteen other texts decode to the same 64 bytes.
        let last = try #require(signature.utf8.last)
        _ = try await codec.verify(good, for: application)
        for character in "BCDEFGHIJKLMNOPRSTUVWXYZabcdefhijklmnopqrstuvxyz0123456789-_".utf8 where character != last {
            let text = signature.dropLast() + String(decoding: [character], as: UTF8.self)
            await expectRefusal("\(header).\(payload).\(text)")
        }
        for text in [
            "", ".", "..", "...", "\(header)", "\(header).\(payload)", "\(good).", ".\(good)", "\(good).\(signature)",
            "\(header)..\(payload).\(signature)", "\(good)=", "\(good)==", "\(header)=.\(payload).\(signature)",
            "\(header).\(payload)=.\(signature)", " \(good)", "\(good) ", "\(good)\n", "\(good)\u{0}", "\(good)é",
            "\(header).\(payload)\u{0}.\(signature)", "\(header). \(payload).\(signature)", "Bearer \(good)",
            "\(header).\(signature).\(payload)", "\(payload).\(header).\(signature)",
            "\(header).\(payload).\(signature.dropLast())", "\(header).\(payload).\(signature)AAAA",
        ] {
            await expectRefusal(text, "\(text.prefix(40))")
        }
    }

    @Test func noChangedCharacterIsAccepted() async throws {
        let bytes = Array(good.utf8)
        _ = try await codec.verify(good, for: application)
        for index in stride(from: 0, to: bytes.count, by: 7) {
            var changed = bytes
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "E") : UInt8(ascii: "A")
            await expectRefusal(String(decoding: changed, as: UTF8.self))
        }
    }

    @Test func whatIsLongIsNeitherSignedNorLookedAt() async throws {
        let claims = installation.claims(in: application, providerUid: String(repeating: "x", count: 12_500))
        await #expect(throws: TokensError.oversizedToken) { try await codec.sign(claims, for: application) }
        await expectRefusal(try forge(payload: claims.payload))
        await expectRefusal(String(repeating: "A", count: 10_000_000))
        await expectRefusal(String(repeating: ".", count: 16_384))
    }

    // MARK: - Claims with a valid signature

    @Test(arguments: [(-3600, 3600), (-3600, 3599), (61, 3600), (0, 0), (0, -1), (100_000, 3600)])
    func timesOutOfOrder(offset: Int, lifetime: Int) async throws {
        let claims = installation.claims(in: application, issuedAfter: offset, lifetime: lifetime)
        await expectRefusal(try await codec.sign(claims, for: application))
    }

    @Test(arguments: [(-3599, 3600), (60, 3600), (0, 1)])
    func timesJustInOrder(offset: Int, lifetime: Int) async throws {
        let claims = installation.claims(in: application, issuedAfter: offset, lifetime: lifetime)
        _ = try await codec.verify(codec.sign(claims, for: application), for: application)
    }

    @Test(arguments: [("https://auth.example/", "demo"), ("", "demo"), ("https://auth.example", "Demo")])
    func issuerAndAudienceMustMatch(issuer: String, audience: String) async throws {
        var claims = installation.claims(in: application)
        claims.issuer = issuer
        claims.audience = audience
        await expectRefusal(try await codec.sign(claims, for: application))
    }

    /// Claims and JSON values that are invalid for them.
    ///
    /// An empty value omits the claim.
    private static let badClaims: [(name: String, value: String)] = [
        ("exp", "1e400"), ("exp", "-1e400"), ("exp", "9223372036854775808"), ("exp", "1800003600.5"), ("exp", "\"9\""),
        ("exp", "null"), ("exp", ""), ("exp", "true"), ("exp", "[]"), ("exp", "0x7fffffff"), ("exp", "NaN"),
        ("exp", "-0"),
        ("exp", "-9223372036854775808"), ("exp", "99999999999999999999999999999999999999999999"), ("exp", "\u{0}"),
        ("iat", "9223372036854775807"), ("iat", "9223372036854775808"), ("iat", "1e400"), ("iat", "null"), ("iat", ""),
        ("auth_time", "1e400"), ("auth_time", "\"1\""), ("auth_time", ""), ("iss", "null"), ("iss", "[]"), ("iss", ""),
        ("aud", "[\"demo\"]"), ("aud", "null"), ("aud", ""), ("sub", "\"00000000-0000-0000-0000-000000000000\""),
        ("sub", "1"), ("uid", "\"\""), ("uid", "\"00000000-0000-0000-0000-000000000000\""), ("sid", "\"1\""),
        ("sid", "null"), ("jti", "\"../..\""), ("jti", ""), ("amr", "\"pwd\""), ("amr", "[1]"), ("amr", "null"),
        ("provider", "{}"), ("provider", ""), ("providerUid", "7"), ("email", "7"), ("email_verified", "\"true\""),
        ("email_verified", "1"), ("email", "\"\\ud800\""), ("phone_verified", "0"),
    ]

    @Test(arguments: badClaims)
    func everyClaimIsWellTyped(name: String, value: String) async throws {
        let members = try JSONDecoder().decode([String: JSON].self, from: Data(goodPayload))
        var texts = members.mapValues(\.text)
        texts[name] = value.isEmpty ? nil : value
        let object = texts.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        await expectRefusal(try forge(payload: Array("{\(object)}".utf8)), "\(name): \(value)")
    }

    @Test(arguments: [
        "", "null", "[]", "{", "{}", "\"\"", "1", "\u{0}", "{\"iss\":", String(repeating: "[", count: 5500),
        String(repeating: "{\"a\":", count: 1100), "{\"iss\":" + String(repeating: "[", count: 5000),
        "{\"a\":1" + String(repeating: "0", count: 5000) + "}",
    ])
    func noPayloadMakesItTrap(payload: String) async throws {
        await expectRefusal(try forge(payload: Array(payload.utf8)))
    }

    @Test func bytesThatAreNoTextAreRefused() async throws {
        await expectRefusal(try forge(payload: [0xFF, 0xFE, 0x7B, 0x7D]))
        await expectRefusal(try forge(payload: Array(try goodPayload.dropLast()) + [0xC0, 0x80]))
    }

    /// A claim with its JSON value.
    private enum JSON: Decodable {
        case number(Int), flag(Bool), string(String), list([String])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? value.decode(Int.self) {
                self = .number(number)
            } else if let list = try? value.decode([String].self) {
                self = .list(list)
            } else {
                self = .string(try value.decode(String.self))
            }
        }

        var text: String {
            switch self {
            case .number(let number): "\(number)"
            case .flag(let flag): "\(flag)"
            case .string(let string): "\"\(string)\""
            case .list(let list): "[\(list.map { "\"\($0)\"" }.joined(separator: ","))]"
            }
        }
    }
}
