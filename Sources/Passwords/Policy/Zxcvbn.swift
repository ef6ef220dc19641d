import CZxcvbn
import Glibc

/// Estimates how many guesses find a password, with zxcvbn's formula (Wheeler, USENIX Security 2016, section 4).
///
/// The C library splits a password into words, dates, sequences and so on. Its own total ignores their order and has no
/// minimum for a part, so it can't be compared with the thresholds of zxcvbn's scores. The result differs from the
/// reference implementation's where the parts differ: only one split is known, Debian's dictionary is another one, all
/// years from 1901 to 2050 are equally likely, one letter may be replaced by different symbols, and reversed words cost
/// nothing extra. It is lower for combinations with the person's own words.
enum Zxcvbn {
    /// The length of the prefix that is examined; zxcvbn itself also stops there (`ZXCVBN_DETAIL_LEN`).
    static let maximumLength = 100

    /// Passwords of 8 or more characters that are among the 1000 most common ones of the reference implementation and that
    /// Debian's dictionary does not have.
    private static let commonPasswords = """
        password123 q1w2e3r4t5 password1 12344321 qwerty123 abcd1234 4815162342 789456123 147258369 qweasdzxc maryjane \
        123456789a 1232323q 12345qwert michael1 1234554321 usuckballz1 fktrcfylh hello123 123qweasd charlie1 fyfcnfcbz \
        123654789 letmein1 741852963 123456789q cjkysirj 147852369 1029384756 mustang1 01012000 dbrnjhbz welcome1 \
        qazwsx123 123qweasdzxc soso123aljg freedom1 jessica1 1234abcd trfnthbyf yankees1 1qaz2wsx3edc
        """.split(separator: " ").map(String.init)

    private struct Part {
        let length: Int
        let guesses: Double
        /// Whether it is a personal word or common password.
        let isListed: Bool

        static func unknown(_ length: Int) -> Part {
            Part(length: length, guesses: pow(10, Double(length)), isListed: false)
        }
    }

    /// The number of guesses of an attacker who also tries the person's own words, ignoring case; rough above 10^8.
    static func guesses(for password: String, personalWords: [String]) -> Double {
        let byPersonalWords = guesses(for: parts(of: password, words: personalWords, minimumGuesses: 1))
        return min(byPersonalWords, guesses(for: parts(of: password, words: commonPasswords, minimumGuesses: 1000)))
    }

    /// The parts that are guessed most easily, where each of the given words takes at least `minimumGuesses`.
    private static func parts(of password: String, words: [String], minimumGuesses: Double) -> [Part] {
        let words = words.map { strdup(characters(of: $0)) }
        defer { for word in words { free(word) } }
        // If memory for a copy is missing, its `nil` ends the dictionary early.
        var dictionary: [UnsafePointer<CChar>?] = words.map { UnsafePointer($0) } + [nil]
        var matches: UnsafeMutablePointer<ZxcMatch_t>?
        ZxcvbnMatch(characters(of: password), &dictionary, &matches)
        defer { ZxcvbnFreeInfo(matches) }
        guard let matches else { return [] }
        return sequence(first: matches) { $0.pointee.Next }.map { match in
            let match = match.pointee
            let length = Int(match.Length)
            if match.`Type` == BRUTE_MATCH { return .unknown(length) }
            let isListed = match.`Type` == USER_MATCH || match.`Type` == USER_LEET_MATCH
            let guesses = max(exp2(match.Entrpy), isListed ? minimumGuesses : 1)
            return Part(length: length, guesses: guesses, isListed: isListed)
        }
    }

    /// The guesses for the parts, or for only the first or last of them and unknown characters, if that is fewer.
    ///
    /// Other combinations have at least three parts, which zxcvbn's formula puts above 10^8.
    private static func guesses(for parts: [Part]) -> Double {
        let length = parts.reduce(0) { $0 + $1.length }
        // Combinations of fewer parts are tried before, but not before those with listed words.
        let fewerParts = parts.contains(where: \.isListed) ? 0.0 : 10_000
        let ends = [parts.first, parts.last].compactMap(\.self).map { [$0, .unknown(length - $0.length)] }
        return ([parts, [.unknown(length)]] + ends).map { combination in
            let parts = combination.filter { $0.length > 0 }
            let product = parts.enumerated().reduce(1.0) { product, part in
                let minimum = part.element.length == length ? 1.0 : part.element.length == 1 ? 10 : 50
                return product * Double(part.offset + 1) * max(part.element.guesses, minimum)
            }
            return product + pow(fewerParts, Double(parts.count - 1))
        }.reduce(.infinity, min)
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
