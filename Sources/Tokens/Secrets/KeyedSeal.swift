import Accounts
import Crypto
import Foundation

/// AES-256-GCM whose result names the format and the key.
///
/// One byte of version, 8 of key id, 12 of nonce, the ciphertext, 16 of tag. Nonces are random, which is safe for
/// 2³² messages under one key (NIST SP 800-38D section 8.3).
struct KeyedSeal: Sendable {
    private static let version: UInt8 = 1
    private static let idLength = 8

    private let key: SymmetricKey
    /// Authenticated too, so that neither version nor key id can be exchanged.
    private let header: [UInt8]

    /// `label` says what the key is for.
    ///
    /// The id derives from the secret under a label of its own: it tells nothing about the key, and the secret itself
    /// encrypts nothing.
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
    /// A key for one purpose (HKDF-SHA256, RFC 5869): no two purposes share one.
    func derived(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: self, info: Array("gatehouse v1 \(purpose)".utf8), outputByteCount: 32)
    }
}
