import Foundation
import Testing

@testable import Tokens

struct Base64URLTests {
    /// RFC 4648 section 10, and the two characters that differ from base64.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("~~~???", "fn5-Pz8_"),
    ])
    func bothWays(plain: String, encoded: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(plain.utf8))
    }

    @Test(arguments: [
        "Zg==", "Zm8=", "Z", "Zm9vY", "Zh", "Zm9", "Z g", "Zg\n", "fn5+", "fn5/", "Zm\u{0}v", "Zmé",
    ])
    func refuses(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test func everyByteSurvives() {
        let bytes = (0...255).map(UInt8.init)
        for length in 0...bytes.count {
            #expect(Base64URL.decode(Base64URL.encode(bytes.suffix(length)).utf8) == bytes.suffix(length))
        }
    }
}
