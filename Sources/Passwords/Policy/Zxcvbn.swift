import CZxcvbn

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The strength of a password by zxcvbn, in its C version.
enum Zxcvbn {
    /// The part of a password that is looked at: the cost grows much faster than the length, and zxcvbn itself stops
    /// here (`ZXCVBN_DETAIL_LEN`).
    static let maximumLength = 100

    /// Bits of entropy: the logarithm of the guesses of an attacker who tries the given words first, in any case.
    static func entropy(of password: String, words: [String]) -> Double {
        let words = words.map { strdup(characters(of: $0)) }
        defer {
            for word in words {
                free(word)
            }
        }
        // A missing copy (no memory) ends the dictionary early.
        var dictionary: [UnsafePointer<CChar>?] = words.map { UnsafePointer($0) } + [nil]
        return ZxcvbnMatch(characters(of: password), &dictionary, nil)
    }

    /// One byte for each code point, since zxcvbn takes a byte for a character; then NUL.
    ///
    /// Beyond ASCII it knows no words, but sees repetition, and the person's own words once their case is folded. That
    /// two letters may share a byte only makes the estimate lower. NUL would end the string: it counts for nothing.
    private static func characters(of text: String) -> [CChar] {
        let bytes = text.unicodeScalars.lazy.filter { $0 != "\0" }.prefix(maximumLength).map { scalar in
            if scalar.isASCII { return UInt8(truncatingIfNeeded: scalar.value) }
            let folded = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
            return 0x80 | UInt8(truncatingIfNeeded: folded.value)
        }
        return bytes.map { CChar(bitPattern: $0) } + [0]
    }
}
