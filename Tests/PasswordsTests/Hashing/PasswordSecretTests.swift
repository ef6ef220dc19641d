import Crypto
import Testing

@testable import Passwords

@Suite struct PasswordSecretTests {
    private func bytes(_ password: String, pepper: SymmetricKey? = nil) -> [UInt8] {
        PasswordSecret(password, pepper: pepper).withUnsafeBytes(Array.init)
    }

    @Test(arguments: [
        ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
        // Combining marks may come in either order, and every kind of space becomes an ASCII space.
        ("q\u{307}\u{323}", "q\u{323}\u{307}"), ("a\u{A0}b\u{3000}c", "a b c"),
        // There is no compatibility mapping and no case folding, and no character is trimmed or dropped.
        ("\u{FB01}", "\u{FB01}"), ("Straße ", "Straße "), ("a\u{0}b", "a\u{0}b"), ("\u{200D}", "\u{200D}"),
    ])
    func `is normalised like OpaqueString`(typed: String, normalised: String) {
        #expect(bytes(typed) == Array(normalised.utf8))
    }

    @Test func `leaves passwords unchanged that exceed any policy`() {
        let marks = "e" + String(repeating: "\u{301}\u{323}", count: 100_000)
        #expect(bytes(marks) == Array(marks.utf8))
    }

    @Test func `goes through HMAC-SHA256 under a pepper`() {
        let key = SymmetricKey(data: Array(repeating: 0x0B, count: 20))
        // RFC 4231 section 4.2.
        let expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        let hex = bytes("Hi There", pepper: key).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == expected)
    }

    @Test(arguments: ["", "123456789", "ééééé"])
    func `a key id has one to eight bytes`(id: String) {
        #expect(throws: PasswordsError.self) { try PepperKeys.ID(id) }
    }

    @Test func `refuses short keys and ids used twice`() throws {
        let id = try PepperKeys.ID("a")
        #expect(throws: PasswordsError.self) {
            try PepperKeys.Key(id: id, secret: SymmetricKey(data: Array(repeating: 1, count: 31)))
        }
        let key = try PepperKeys.Key(id: id, secret: SymmetricKey(size: .bits256))
        #expect(throws: PasswordsError.self) { try PepperKeys(current: key, previous: [key]) }
    }
}
