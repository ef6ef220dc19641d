package import Foundation

/// JWS algorithms that access tokens can be signed with (RFC 7518, RFC 8037).
package enum SigningAlgorithm: String, Sendable, CaseIterable, Codable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
}

/// What a key signs.
///
/// No key signs both.
package enum SigningPurpose: String, Sendable {
    case accessTokens
    /// Certificates of erasure. Their keys stay published.
    case erasures
}

/// A signing key as the database keeps it.
package struct StoredSigningKey: Sendable {
    package var purpose: SigningPurpose
    /// RFC 7638 thumbprint.
    package var kid: String
    package var algorithm: SigningAlgorithm
    /// Modulus length for RS256, else 0.
    package var bits: Int
    package var sealedPrivateKey: [UInt8]
    package var createdAt: Date
    /// When it stopped signing.
    ///
    /// It stays published.
    package var retiredAt: Date?

    package init(
        purpose: SigningPurpose = .accessTokens, kid: String, algorithm: SigningAlgorithm, bits: Int,
        sealedPrivateKey: [UInt8], createdAt: Date, retiredAt: Date? = nil
    ) {
        self.purpose = purpose
        self.kid = kid
        self.algorithm = algorithm
        self.bits = bits
        self.sealedPrivateKey = sealedPrivateKey
        self.createdAt = createdAt
        self.retiredAt = retiredAt
    }
}

package protocol SigningKeyStore: Sendable {
    /// The published keys, the newest first.
    func signingKeys(application: Application.ID) async throws -> [StoredSigningKey]

    /// Makes this the signing key of its purpose and retires the current one, which stays published for `overlap`; keys
    /// of certificates stay published permanently.
    ///
    /// `expected` is the `kid` of the current key, or `nil` for none. If another replica was faster, nothing changes,
    /// and `signingKeys` returns its key.
    func installSigningKey(
        _ key: StoredSigningKey, replacing expected: String?, overlap: Duration, application: Application.ID)
        async throws
}
