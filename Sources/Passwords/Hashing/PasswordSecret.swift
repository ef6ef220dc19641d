import Accounts
import Crypto
import Foundation

/// The input of Argon2id, in memory that is zeroed when it is released.
///
/// Swift cannot zero the string and the request's body that the password came from.
struct PasswordSecret: Sendable {
    /// A `SymmetricKey`, because it zeroes its storage and is never printed.
    private let bytes: SymmetricKey

    /// With a pepper, a key outside the database, a stolen hash cannot be attacked by guessing.
    init(_ password: String, pepper: SymmetricKey?) {
        var normalised = password.normalisedPassword
        bytes = normalised.withUTF8 { utf8 in
            guard let pepper else { return SymmetricKey(data: utf8) }
            return SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: utf8, using: pepper))
        }
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}

extension String {
    /// The longest password in code points of its normalised form.
    static let maximumPasswordLength = PasswordRules.lengths.upperBound

    /// The normalised password, independent of the keyboard: some systems type `é` as two code points.
    ///
    /// The rules are those of the OpaqueString profile (RFC 8265 section 4.2.2): each space becomes U+0020, then NFC.
    /// Nothing is refused, trimmed or folded. A password that is too long even after composition (of at most four code
    /// points into one) stays as it is, because NFC of long runs of combining marks is slow.
    var normalisedPassword: String {
        guard unicodeScalars.dropFirst(4 * Self.maximumPasswordLength).isEmpty else { return self }
        var spaced = UnicodeScalarView()
        spaced.append(contentsOf: unicodeScalars.map { $0.properties.generalCategory == .spaceSeparator ? " " : $0 })
        return String(spaced).precomposedStringWithCanonicalMapping
    }
}
