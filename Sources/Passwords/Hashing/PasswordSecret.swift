import Accounts
import Crypto
import Foundation

/// The input of Argon2id, in memory that is zeroed, unlike the string and the request's body, for which Swift cannot.
struct PasswordSecret: Sendable {
    /// A `SymmetricKey`, because that zeroes its storage and is never printed.
    private let bytes: SymmetricKey

    /// Combines a password with the pepper, a key outside the database, so that a stolen hash cannot be attacked by
    /// guessing.
    init(_ password: String, pepper: SymmetricKey?) {
        var normalised = password.normalisedPassword
        bytes = normalised.withUTF8 { utf8 in
            guard let pepper else { return SymmetricKey(data: utf8) }
            return SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: utf8, using: pepper))
        }
    }

    func withUnsafeBytes<Output>(_ body: (UnsafeRawBufferPointer) throws -> Output) rethrows -> Output {
        try bytes.withUnsafeBytes(body)
    }
}

extension String {
    /// The largest number of code points in a normalised password.
    static let maximumPasswordLength = PasswordRules.lengths.upperBound

    /// The normalised password, which does not depend on the keyboard: some systems type `é` as two code points.
    ///
    /// The rules are those of the OpaqueString profile (RFC 8265 section 4.2.2): each space becomes U+0020, and the
    /// result is converted to NFC. No character is refused, trimmed or case-folded. A password that would be too long
    /// even if every four code points were composed into one is not normalised, because NFC is slow for long runs of
    /// combining marks.
    var normalisedPassword: String {
        guard unicodeScalars.dropFirst(4 * Self.maximumPasswordLength).isEmpty else { return self }
        var spaced = UnicodeScalarView()
        spaced.append(contentsOf: unicodeScalars.map { $0.properties.generalCategory == .spaceSeparator ? " " : $0 })
        return String(spaced).precomposedStringWithCanonicalMapping
    }
}
