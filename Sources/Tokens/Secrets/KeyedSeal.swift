import Accounts
import Crypto
import Foundation

/// Encrypts with AES-256-GCM.
///
/// The result is the version (1 byte), the key id (8), the nonce (12), the ciphertext, and the tag (16). Nonces are
/// random, which is safe for 2³² messages under one key (NIST SP 800-38D section 8.3).
struct KeyedSeal: Sendable {
    private static let version: UInt8 = 1
    private static let idLength = 8

    private let key: SymmetricKey
    /// The version and the key id, which are also authenticated.
    private let header: [UInt8]

    /// Derives the key and its id from a secret, with a different label for each.
    init(secret: SymmetricKey, label: String) {
        key = secret.derived(for: label)
        let id = secret.derived(for: "\(label) id").withUnsafeBytes { SHA256.hash(data: $0) }
        header = [Self.version] + id.prefix(Self.idLength)
    }

    func seal(_ plaintext: [UInt8], authenticating context: [UInt8]) throws -> [UInt8] {
        let nonce = AES.GCM.Nonce()
        let box = try AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: header + context)
        return header + nonce + box.ciphertext + box.tag
    }

    /// - Throws: `AccountsError.unreadableSecret`.
    func open(_ sealed: [UInt8], authenticating context: [UInt8]) throws -> [UInt8] {
        guard sealed.starts(with: header), let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst(header.count)),
            let plaintext = try? AES.GCM.open(box, using: key, authenticating: header + context)
        else { throw AccountsError.unreadableSecret }
        return Array(plaintext)
    }
}

extension SymmetricKey {
    /// Derives the key for one purpose (HKDF-SHA256, RFC 5869).
    func derived(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: self, info: Array("gatehouse v1 \(purpose)".utf8), outputByteCount: 32)
    }
}
