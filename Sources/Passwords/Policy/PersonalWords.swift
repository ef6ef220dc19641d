/// The words that an attacker who knows the person tries first.
enum PersonalWords {
    /// Limited because zxcvbn compares each word at every position of the password.
    private static let maximumCount = 64
    /// In UTF-8, so that shorter words do not match by chance but one Chinese character counts.
    private static let minimumBytes = 3

    /// Each text itself, then the two sides of addresses, then all words.
    static func dictionary(of texts: [String]) -> [String] {
        let texts = texts.map(\.normalisedPassword)
        let sides = texts.flatMap { $0.split(separator: "@") }.map(String.init)
        let words = texts.flatMap { $0.split { !$0.isLetter && !$0.isNumber } }.map(String.init)
        var seen: Set<String> = []
        return Array(
            (texts + sides + words)
                .filter { $0.utf8.count >= minimumBytes && seen.insert($0).inserted }
                .prefix(maximumCount))
    }
}
