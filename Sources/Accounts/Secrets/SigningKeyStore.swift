package import Foundation

/// JWS algorithms that access tokens can be signed with (RFC 7518, RFC 8037).
package enum SigningAlgorithm: String, Sendable, CaseIterable, Codable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
}

/// What a key signs; none signs both.
package enum SigningPurpose: String, Sendable {
    case accessTokens
    /// Certificates of erasure, whose keys are published for ever.
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
    /// From then on it signs nothing new, but is still published.
    package var retiredAt: Date?

    package init(
        purpose: SigningPurpose = .accessTokens, kid: String, algorithm: SigningAlgorithm, bits: Int,
        sealedPrivateKey: [UInt8], createdAt: Date,
        retiredAt: Date? = nil
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
    /// Every key that is not past its publication, the newest first.
    func signingKeys(application: Application.ID) async throws -> [StoredSigningKey]

    /// Makes this key the one that signs for its purpose and retires the one that did, which stays published for
    /// `overlap`, or for ever.
    ///
    /// `expected` is the `kid` that signs now, `nil` for none. Where another replica was faster nothing changes: the
    /// outcome is to be read back with `signingKeys`.
    func installSigningKey(
        _ key: StoredSigningKey, replacing expected: String?, overlap: Duration, application: Application.ID)
        async throws
}
