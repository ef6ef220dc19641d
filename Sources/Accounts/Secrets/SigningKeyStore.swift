package import Foundation

/// The JWS algorithms for signing access tokens (RFC 7518, RFC 8037).
package enum SigningAlgorithm: String, Sendable, CaseIterable, Codable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
}

/// The purpose of a signing key; each key has only one.
package enum SigningPurpose: String, Sendable, CaseIterable {
    case accessTokens
    /// ID tokens and logout tokens of OpenID clients.
    case identityTokens
    /// Erasure certificates; their keys remain published permanently.
    case erasures
}

package struct StoredSigningKey: Sendable {
    package var purpose: SigningPurpose
    /// The key's id, its RFC 7638 thumbprint.
    package var kid: String
    package var algorithm: SigningAlgorithm
    /// The modulus length for RS256; 0 for other algorithms.
    package var bits: Int
    package var sealedPrivateKey: [UInt8]
    package var createdAt: Date
    /// When the key stopped signing; it remains published.
    package var retiredAt: Date?

    package init(
        purpose: SigningPurpose = .accessTokens, kid: String, algorithm: SigningAlgorithm, bits: Int,
        sealedPrivateKey: [UInt8], createdAt: Date, retiredAt: Date? = nil
    ) {
        (self.purpose, self.kid, self.algorithm, self.bits) = (purpose, kid, algorithm, bits)
        (self.sealedPrivateKey, self.createdAt, self.retiredAt) = (sealedPrivateKey, createdAt, retiredAt)
    }
}

package protocol SigningKeyStore: Sendable {
    /// The published keys, the newest first.
    func signingKeys(application: Application.ID) async throws -> [StoredSigningKey]

    /// Makes the key the signing key of its purpose, and retires the current one.
    ///
    /// The retired key remains published for `overlap`, or permanently if it signed certificates. `expected` is the
    /// `kid` of the current key, or `nil` if there is none. If another replica has already replaced that key, nothing
    /// changes, and `signingKeys` returns the other replica's key.
    ///
    /// The event, if there is one, is recorded exactly if the key is installed.
    func installSigningKey(
        _ key: StoredSigningKey, replacing expected: String?, overlap: Duration, recording event: AuditEntry?,
        application: Application.ID) async throws

    /// Ends the publication of a key that no longer signs, and records the event, unless it is not published.
    func unpublishSigningKey(
        _ kid: String, for purpose: SigningPurpose, recording event: AuditEntry, application: Application.ID
    ) async throws
}

/// The changes of signing keys that administrators make.
///
/// Each change is recorded in its own transaction, and every replica applies it at once.
package protocol SigningKeyChanges: Sendable {
    /// The `kid` of the key that signs access tokens now.
    func signingKey(of application: Application) async throws -> String

    /// Replaces the keys that sign tokens, and records the event once; only if the key `seen`, if one is given, still
    /// signs access tokens.
    func rotate(
        _ application: Application, replacing seen: String?, overlap: Duration?, recording event: AuditEntry?
    ) async throws

    /// Has the tokens of a key refused from now on; a key that still signs is replaced by a new one.
    ///
    /// The event is recorded unless the key is not published any more.
    func retire(
        _ kid: String, for purpose: SigningPurpose, of application: Application, recording event: AuditEntry
    ) async throws
}
