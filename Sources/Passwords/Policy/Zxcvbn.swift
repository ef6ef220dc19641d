import CZxcvbn
import Glibc

enum Zxcvbn {
    /// The length of the prefix that is examined; zxcvbn itself also stops there (`ZXCVBN_DETAIL_LEN`).
    static let maximumLength = 100

    /// The entropy in bits against an attacker who tries the given words first, ignoring case.
    static func entropy(of password: String, words: [String]) -> Double {
        let words = words.map { strdup(characters(of: $0)) }
        defer { for word in words { free(word) } }
        // If memory for a copy is missing, its `nil` ends the dictionary early.
        var dictionary: [UnsafePointer<CChar>?] = words.map { UnsafePointer($0) } + [nil]
        return ZxcvbnMatch(characters(of: password), &dictionary, nil)
    }

    /// Converts a text to a C string with one byte for each code point, because zxcvbn treats each byte as a character.
    ///
    /// zxcvbn knows no words with characters beyond ASCII, but detects repetitions and, after case folding, the
    /// person's own words. Different characters may get the same byte, which only lowers the estimate. NUL is left out,
    /// because it would end the string.
    private static func characters(of text: String) -> [CChar] {
        let bytes = text.unicodeScalars.lazy.filter { $0 != "\0" }.prefix(maximumLength).map { scalar in
            if scalar.isASCII { return UInt8(truncatingIfNeeded: scalar.value) }
            let folded = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
            return 0x80 | UInt8(truncatingIfNeeded: folded.value)
        }
        return bytes.map { CChar(bitPattern: $0) } + [0]
    }
}
