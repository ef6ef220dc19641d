/// The words that an attacker who knows the person would try first.
enum PersonalWords {
    /// The largest number of words, limited because zxcvbn compares each word at every position of the password.
    private static let maximumCount = 64
    /// The minimum length of a word in UTF-8 bytes: shorter words match by chance, but one Chinese character is enough.
    private static let minimumBytes = 3

    /// Returns each text itself, then the two sides of addresses, then all single words.
    static func dictionary(of texts: [String]) -> [String] {
        let texts = texts.map(\.normalisedPassword)
        let sides = texts.flatMap { $0.split(separator: "@") }.map(String.init)
        let words = texts.flatMap { $0.split { !$0.isLetter && !$0.isNumber } }.map(String.init)
        var seen: Set<String> = []
        return Array(
            (texts + sides + words).filter { $0.utf8.count >= minimumBytes && seen.insert($0).inserted }.prefix(
                maximumCount))
    }
}
