internal import Foundation

/// The languages that a reader accepts, from `Accept-Language` (RFC 9110, 12.5.4) or one language tag.
package enum LanguageRange {
    /// The accepted tags in order of preference, in lower case, each followed by its shorter forms (RFC 4647, 3.4).
    package static func tags(_ header: String) -> [String] {
        let ranges = header.utf8.split(separator: UInt8(ascii: ",")).prefix(20).compactMap { range(Substring($0)) }
        let sorted = ranges.enumerated().sorted { left, right in
            (right.element.quality, left.offset) < (left.element.quality, right.offset)
        }
        return sorted.flatMap { shortened($0.element.tag) }
    }

    private static func range(_ text: Substring) -> (tag: String, quality: Double)? {
        // Longer or other texts are no ranges, and cost much to compare as characters.
        guard text.utf8.count <= 100, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let tag = parts.first?.lowercased(), !tag.isEmpty, tag != "*",
            tag.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0.isASCIILetterOrDigit })
        else { return nil }
        var quality = 1.0
        for part in parts.dropFirst() where part.lowercased().hasPrefix("q=") {
            quality = Double(part.dropFirst(2)).flatMap { (0...1).contains($0) ? $0 : nil } ?? 0
        }
        return quality > 0 ? (tag, quality) : nil
    }

    private static func shortened(_ tag: String) -> [String] {
        var subtags = tag.split(separator: "-").prefix(8)
        var tags: [String] = []
        while !subtags.isEmpty {
            // A single letter begins an extension, so a tag that ends in one is not valid.
            if subtags.last?.count != 1 { tags.append(subtags.joined(separator: "-")) }
            subtags = subtags.dropLast()
        }
        return tags
    }
}
