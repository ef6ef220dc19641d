package import Accounts

/// The reason why keys cannot be used; refused requests throw `AccountsError` instead.
package enum TokensError: Error, Sendable, Equatable {
    /// The configured master key is not 32 bytes in base64; `setting` is its path in the configuration.
    case malformedMasterKey(setting: String)
    case unreadableRootKey
    case unsupportedKeySize(bits: Int)
    /// The stored bytes are not a private key for the algorithm.
    case malformedSigningKey(SigningAlgorithm)
    /// `KeyRing.prepare` was not called for the application.
    case noSigningKey(application: Application.ID)
    /// The claims are so long that `verify` would refuse the resulting token.
    case oversizedToken
}

extension TokensError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformedMasterKey(let setting): "\(setting) must be 32 bytes in base64"
        case .unreadableRootKey:
            """
            neither secrets.masterKey nor secrets.previousMasterKeys opens the root key in the database: \
            this is the database of another installation, or the master key that encrypted it is missing
            """
        case .unsupportedKeySize(let bits): "RSA keys have 2048, 3072 or 4096 bits, not \(bits)"
        case .malformedSigningKey(let algorithm): "a stored signing key is not an \(algorithm.rawValue) key"
        case .noSigningKey(let application): "application \(application) has no signing key yet"
        case .oversizedToken: "the access token would be too long"
        }
    }
}
