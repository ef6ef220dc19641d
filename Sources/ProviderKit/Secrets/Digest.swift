internal import Crypto
package import Foundation

/// Hashes of texts, and base64url.
package enum Digest {
    /// The SHA-256 of the text in UTF-8.
    package static func sha256(of text: some StringProtocol) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }

    /// The SHA-512 of the text in UTF-8.
    package static func sha512(of text: some StringProtocol) -> [UInt8] { Array(SHA512.hash(data: Array(text.utf8))) }

    /// The bytes in base64url without padding (RFC 7515, 2).
    package static func base64URL(_ bytes: some Collection<UInt8>) -> String {
        String(
            decoding: Data(bytes).base64EncodedData().compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            }, as: UTF8.self)
    }
}

extension Data {
    /// Decodes base64url without padding (RFC 4648, 5).
    package init?(base64URL text: String) {
        var standard = Data(
            text.utf8.map { byte in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            })
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4))
        self.init(base64Encoded: standard)
    }
}
