/// A name to greet a person by, made of what a source says.
public enum PersonName {
    /// The most that is kept, in bytes of UTF-8; what is longer is cut between characters.
    public static let longest = 256

    /// The parts that say something, with a space between them; control characters count as spaces.
    ///
    /// - Returns: `nil` where none does.
    public static func joined(_ parts: String?...) -> String? {
        // More than that is not looked at: finding the characters of a text takes time.
        let words = parts.compactMap { $0.map { String($0.unicodeScalars.prefix(4 * longest)) } }.flatMap { part in
            part.split { $0.isWhitespace || $0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
        }
        var name = ""
        var size = 0
        for character in words.joined(separator: " ") {
            size += character.utf8.count
            guard size <= longest else { break }
            name.append(character)
        }
        return name.isEmpty ? nil : name
    }
}
