import CZxcvbn
import Glibc

/// Estimates the strength of a password with zxcvbn's C version.
enum Zxcvbn {
    /// The prefix of a password that is examined; zxcvbn itself stops here too (`ZXCVBN_DETAIL_LEN`).
    static let maximumLength = 100

    /// The entropy in bits, for an attacker who tries the given words first, in any case.
    static func entropy(of password: String, words: [String]) -> Double {
        let words = words.map { strdup(characters(of: $0)) }
        defer { for word in words { free(word) } }
        // A failed copy (no memory) ends the dictionary early.
        var dictionary: [UnsafePointer<CChar>?] = words.map { UnsafePointer($0) } + [nil]
        return ZxcvbnMatch(characters(of: password), &dictionary, nil)
    }

    /// A C string with one byte for each code point, because zxcvbn takes a byte for a character.
    ///
    /// Beyond ASCII zxcvbn knows no words, but sees repetitions and, after case folding, the person's own words. Letters
    /// that share a byte only lower the estimate. NUL is left out, because it would end the string.
    private static func characters(of text: String) -> [CChar] {
        let bytes = text.unicodeScalars.lazy.filter { $0 != "\0" }.prefix(maximumLength).map { scalar in
            if scalar.isASCII { return UInt8(truncatingIfNeeded: scalar.value) }
            let folded = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
            return 0x80 | UInt8(truncatingIfNeeded: folded.value)
        }
        return bytes.map { CChar(bitPattern: $0) } + [0]
    }
}
