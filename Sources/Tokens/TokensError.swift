package import Accounts

/// What keeps the keys from being used; requests that are refused are `AccountsError`s instead.
///
/// The codes are stable.
package enum TokensError: Error, Sendable, Equatable {
    /// - `setting` is its path in the configuration.
    case malformedMasterKey(setting: String)
    case unreadableRootKey
    case unsupportedKeySize(bits: Int)
    /// Bytes that are no private key of that algorithm.
    case malformedSigningKey(SigningAlgorithm)
    /// `KeyRing.prepare` was not called for the application.
    case noSigningKey(application: Application.ID)
    /// Claims so long that `verify` would refuse the token.
    case oversizedToken
}

extension TokensError: CustomStringConvertible {
    package var code: String {
        switch self {
        case .malformedMasterKey: "malformed-master-key"
        case .unreadableRootKey: "unreadable-root-key"
        case .unsupportedKeySize: "unsupported-key-size"
        case .malformedSigningKey: "malformed-signing-key"
        case .noSigningKey: "no-signing-key"
        case .oversizedToken: "oversized-token"
        }
    }

    package var description: String {
        switch self {
        case .malformedMasterKey(let setting): "\(setting) must be 32 bytes in base64"
        case .unreadableRootKey:
            """
            the database's key opens under neither secrets.masterKey nor secrets.previousMasterKeys: \
            this is another installation's database, or the master key that wrapped it is missing
            """
        case .unsupportedKeySize(let bits): "RSA keys have 2048, 3072 or 4096 bits, not \(bits)"
        case .malformedSigningKey(let algorithm): "a stored signing key is no \(algorithm.rawValue) key"
        case .noSigningKey(let application): "application \(application) has no signing key yet"
        case .oversizedToken: "the claims make an access token that is too long"
        }
    }
}
