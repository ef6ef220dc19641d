import Accounts
import Crypto
import Foundation

/// The bytes that Argon2id runs over, in memory that is wiped when let go.
///
/// The string it was typed as, and the request's body, can't be wiped in Swift: this bounds what outlives them.
struct PasswordSecret: Sendable {
    /// `SymmetricKey` is here for its storage: zeroed on release and never printed.
    private let bytes: SymmetricKey

    /// With a pepper, a key that the database doesn't hold, its hashes alone can't be guessed at.
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
    /// The longest password, counted in code points of its normalised form.
    static let maximumPasswordLength = PasswordRules.lengths.upperBound

    /// One form of what was typed, whichever keyboard it was typed on: Apple's systems give `é` as two code points
    /// where others give one, and a no-break space is one slip of a finger from a space.
    ///
    /// These are the mapping rules of the OpaqueString profile (RFC 8265 section 4.2.2): every space becomes U+0020,
    /// then NFC. Nothing is refused, trimmed or folded. What is too long for the policy even after composition (at
    /// most four code points into one) stays as typed, because NFC of a long run of combining marks is slow.
    var normalisedPassword: String {
        guard unicodeScalars.dropFirst(4 * Self.maximumPasswordLength).isEmpty else { return self }
        var spaced = UnicodeScalarView()
        spaced.append(contentsOf: unicodeScalars.map { $0.properties.generalCategory == .spaceSeparator ? " " : $0 })
        return String(spaced).precomposedStringWithCanonicalMapping
    }
}
