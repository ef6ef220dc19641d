/// Builds a display name from the parts that a provider states.
public enum PersonName {
    /// The longest name in bytes of UTF-8; longer names are cut between characters.
    public static let longest = 256

    /// Joins the words of all parts with single spaces; control characters count as spaces.
    /// - Returns: `nil` if there are no words.
    public static func joined(_ parts: String?...) -> String? {
        // Limits the length first, because splitting a string into characters is slow.
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
