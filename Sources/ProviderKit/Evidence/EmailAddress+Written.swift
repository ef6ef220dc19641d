internal import Foundation

extension EmailAddress {
    /// Whether normalising the text converts other characters to ASCII, as it does with full-width letters.
    ///
    /// A service may treat the original and the normalised spelling as addresses of different people.
    static func gainsASCII(_ text: String) -> Bool {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return false }
        let parts = text.unicodeScalars.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return true }
        return Set(parts[0]).contains { !$0.isASCII && hasASCII(String($0).precomposedStringWithCanonicalMapping) }
            || Set(parts[1]).contains { !$0.isASCII && becomesASCIIInDomain($0) }
    }

    private static func hasASCII(_ text: String) -> Bool { text.utf8.contains { $0 < 0x80 } }

    /// Whether IDNA maps the character to ASCII.
    ///
    /// An A-label begins with the label's ASCII characters (RFC 3492, 3.1). If the A-label of the character between two
    /// letters begins with more than these two, the mapping has added ASCII.
    private static func becomesASCIIInDomain(_ scalar: Unicode.Scalar) -> Bool {
        guard let label = lookUp("a\(scalar)a") else {
            // IDNA does not allow the character between two letters, so the compatibility mapping decides.
            return hasASCII(String(scalar).precomposedStringWithCompatibilityMapping)
        }
        guard label.hasPrefix("xn--") else { return true }
        let encoded = label.dropFirst(4)
        return (encoded.lastIndex(of: "-").map { encoded[..<$0].utf8.count } ?? 0) > 2
    }
}
