package import Accounts
package import Foundation
internal import ProviderKit

/// A key with which another program calls the admin API of one application.
package struct ServiceKey: Sendable, Equatable {
    package let id: String
    package let name: String
    package let scopes: Set<AdminScope>
    /// The address ranges from which the key may be used, in CIDR notation; empty for any address.
    package let clients: [String]
    package let createdAt, expiresAt: Date
    package let revokedAt: Date?
    /// Written at most once a minute.
    package let lastUsedAt: Date?

    package init(
        id: String, name: String, scopes: Set<AdminScope>, clients: [String], createdAt: Date, expiresAt: Date,
        revokedAt: Date?, lastUsedAt: Date?
    ) {
        (self.id, self.name, self.scopes, self.clients) = (id, name, scopes, clients)
        (self.createdAt, self.expiresAt) = (createdAt, expiresAt)
        (self.revokedAt, self.lastUsedAt) = (revokedAt, lastUsedAt)
    }

    /// Whether a text has the form of a key's id: 16 characters of base32.
    package static func isID(_ text: String) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy(Base32.alphabet.contains)
    }

    /// The application of the key with that id, which begins with the application's number; `nil` for another text.
    package static func application(ofKey id: String) -> Application.ID? {
        guard id.utf8.count == 16, let bytes = Base32.decode(Array(id.utf8)[...]), bytes.count == 10 else { return nil }
        let number = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        return Int32(exactly: number).map(Application.ID.init(rawValue:))
    }

    /// Whether the key may be used from an address; `nil` is one that is not known.
    package func admits(_ address: String?) -> Bool {
        clients.isEmpty
            || clients.contains { range in address.map { AddressRange(range)?.contains($0) == true } == true }
    }
}

/// The text of a service key: `ghk_ID_SECRET_CHECKSUM`.
///
/// The id is 16 characters of base32: the application's number and six random bytes, so that a key is looked up in its
/// own application. The secret is 32 random bytes in base64url. The checksum, a CRC-32 in hexadecimal, lets a mistyped
/// key be refused without the database, and scanners of source code recognise keys.
package struct ServiceKeySecret: Sendable {
    package let id: String
    package let application: Application.ID
    /// The whole text, which is shown once.
    package let text: String
    /// The SHA-256 of the text, as stored in the database.
    package let hash: [UInt8]

    /// A new secret; `id` is that of an existing key, or `nil` for a new key.
    package init(for application: Application.ID, id: String? = nil) {
        let number = withUnsafeBytes(of: application.rawValue.bigEndian) { Array($0) }
        let id = id ?? Base32.encode(number + SystemRandom.bytes(6))
        let unchecked = "ghk_\(id)_\(Digest.base64URL(SystemRandom.bytes(32)))"
        self.init(id: id, application: application, text: "\(unchecked)_\(CRC32.hexadecimal(of: unchecked))")
    }

    private init(id: String, application: Application.ID, text: String) {
        (self.id, self.application, self.text, hash) = (id, application, text, Digest.sha256(of: text))
    }

    /// Reads a presented text; `nil` if it has another form or a wrong checksum.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 73, bytes.starts(with: "ghk_".utf8), bytes[20] == UInt8(ascii: "_"),
            bytes[64] == UInt8(ascii: "_"), bytes.allSatisfy({ $0 < 0x80 }),
            CRC32.hexadecimal(of: String(decoding: bytes[..<64], as: UTF8.self)).utf8.elementsEqual(bytes[65...])
        else { return nil }
        let id = String(decoding: bytes[4..<20], as: UTF8.self)
        guard let application = ServiceKey.application(ofKey: id) else { return nil }
        self.init(id: id, application: application, text: text)
    }
}

/// Base32 in lower case without padding (RFC 4648, 6), for whole groups of five bytes.
private enum Base32 {
    static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var (text, buffer, bits): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in bytes {
            (buffer, bits) = (buffer << 8 | UInt32(byte), bits + 8)
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[Int(buffer >> UInt32(bits)) & 31])
            }
            buffer &= (1 << UInt32(bits)) - 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var (bytes, buffer, bits): ([UInt8], UInt32, Int) = ([], 0, 0)
        for character in text {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            (buffer, bits) = (buffer << 5 | UInt32(value), bits + 5)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
            buffer &= (1 << UInt32(bits)) - 1
        }
        return bytes
    }
}

/// The CRC-32 of gzip (RFC 1952, 8).
private enum CRC32 {
    static func hexadecimal(of text: String) -> String {
        var remainder: UInt32 = .max
        for byte in text.utf8 {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        let text = String(~remainder, radix: 16)
        return String(repeating: "0", count: 8 - text.utf8.count) + text
    }
}
