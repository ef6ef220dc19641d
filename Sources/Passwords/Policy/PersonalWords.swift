/// What an attacker who knows the person tries first.
enum PersonalWords {
    /// zxcvbn compares each at every place of the password, so there is a limit.
    private static let maximumCount = 64
    /// In UTF-8: shorter ones match by chance, but one Chinese character is a name.
    private static let minimumBytes = 3

    /// Each text whole, then the two sides of an address, then its words.
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
