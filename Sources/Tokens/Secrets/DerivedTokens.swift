package import Accounts
import Crypto

/// Creates opaque tokens, and derives their successors with a key that is not stored in the database.
package struct DerivedTokens: OpaqueTokens {
    private static let length = 32

    private let succession, pseudonyms: SymmetricKey
    private let random: @Sendable (Int) -> [UInt8]

    /// `random` returns the requested number of unpredictable bytes.
    package init(rootKey: RootKey, random: @escaping @Sendable (Int) -> [UInt8] = SystemRandom.bytes) {
        succession = rootKey.key(for: .refreshSuccession)
        pseudonyms = rootKey.key(for: .pseudonyms)
        self.random = random
    }

    package func make() -> OpaqueToken {
        let bytes = random(Self.length)
        precondition(bytes.count == Self.length, "the source of randomness ran short")
        return Self.token(bytes)
    }

    package func parse(_ text: String) -> OpaqueToken? {
        // The length is checked first, so that long texts are not decoded.
        guard text.utf8.count == 43, let bytes = Base64URL.decode(text.utf8) else { return nil }
        return Self.token(bytes)
    }

    package func successor(of token: OpaqueToken) -> OpaqueToken {
        // Each token has exactly one encoding, so the text can be hashed without decoding it.
        Self.token(Array(HMAC<SHA256>.authenticationCode(for: Array(token.text.utf8), using: succession)))
    }

    package func derived(from token: OpaqueToken, for purpose: DerivedPurpose) -> OpaqueToken {
        // Framing makes the input differ from every token's text, so the result never equals a successor.
        let framed = Framing.encode([purpose.rawValue, token.text])
        return Self.token(Array(HMAC<SHA256>.authenticationCode(for: framed, using: succession)))
    }

    package func pseudonym(of value: String, purpose: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Framing.encode([purpose, value]), using: pseudonyms))
    }

    private static func token(_ bytes: [UInt8]) -> OpaqueToken {
        OpaqueToken(text: Base64URL.encode(bytes), hash: Array(SHA256.hash(data: bytes)))
    }
}
