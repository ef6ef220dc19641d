package import Accounts
import Dispatch

/// Checks length and guessability (zxcvbn) of new passwords, but not kinds of characters (NIST SP 800-63B).
package struct StrengthPolicy: PasswordPolicy {
    /// The threshold of zxcvbn's score 2 ("somewhat guessable"): a million guesses.
    private static let minimumGuesses = 1e6

    private let minimumLength: Int
    /// zxcvbn takes up to milliseconds, so it does not run on the cooperative pool.
    private let queue = DispatchQueue(label: "password-strength")

    /// - Parameter minimumLength: in code points of the normalised password, at least 8.
    /// - Throws: `PasswordsError.invalidSetting`.
    package init(minimumLength: Int = PasswordRules.lengths.lowerBound) throws {
        guard (PasswordRules.lengths.lowerBound...128).contains(minimumLength) else {
            throw PasswordsError.invalidSetting(field: "minimumLength", reason: "must be between 8 and 128")
        }
        self.minimumLength = minimumLength
    }

    package func weaknesses(of password: String, personalWords: [String]) async -> [PasswordWeakness] {
        let password = password.normalisedPassword
        let length = password.unicodeScalars.count
        var weaknesses: [PasswordWeakness] = []
        if length < minimumLength { weaknesses.append(.tooShort) }
        if length > String.maximumPasswordLength { weaknesses.append(.tooLong) }
        if Set(password.unicodeScalars).count < PasswordRules.differentCharacters {
            weaknesses.append(.tooGuessable)
        } else if await isGuessable(password, words: PersonalWords.dictionary(of: personalWords)) {
            weaknesses.append(.tooGuessable)
        }
        return weaknesses
    }

    private func isGuessable(_ password: String, words: [String]) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async {
                let guesses = Zxcvbn.guesses(for: password, personalWords: words)
                continuation.resume(returning: guesses < Self.minimumGuesses)
            }
        }
    }
}
