/// A part of a text: a web address to show as a link, or the text between two addresses.
struct TextSegment: Equatable {
    let text: String
    let isLink: Bool

    /// Splits a text at its `http` and `https` addresses; addresses of other schemes, such as `javascript:`, stay text.
    static func segments(of text: String) -> [TextSegment] {
        var segments: [TextSegment] = []
        var rest = text[...]
        while let start = rest.firstWebAddress {
            let run = rest[start...].prefix { !$0.endsAddress }
            let address = run.withoutTrailingPunctuation
            segments.append(TextSegment(text: String(rest[..<start]), isLink: false))
            segments.append(TextSegment(text: String(address), isLink: true))
            rest = rest[address.endIndex...]
        }
        return segments + [TextSegment(text: String(rest), isLink: false)]
    }
}

extension Substring {
    /// The index of `http://` or `https://` with a host after it, at the start of a word.
    fileprivate var firstWebAddress: Index? {
        var index = startIndex
        var previous: Character?
        while index < endIndex {
            let here = self[index...]
            let isWord = previous?.isLetter == true || previous?.isNumber == true
            if !isWord, let scheme = here.webScheme, let first = here.dropFirst(scheme.count).first, first.isHostStart {
                return index
            }
            previous = self[index]
            formIndex(after: &index)
        }
        return nil
    }

    private var webScheme: String? {
        ["https://", "http://"].first { scheme in prefix(scheme.count).lowercased() == scheme }
    }

    /// The address without punctuation that ends the sentence and without a bracket that encloses the address.
    fileprivate var withoutTrailingPunctuation: Substring {
        var address = self
        while let last = address.last, ".,;:!?)]}'*".contains(last) { address = address.dropLast() }
        return address
    }
}

extension Character {
    fileprivate var endsAddress: Bool { isWhitespace || self == "<" || self == ">" || self == "\"" }
    fileprivate var isHostStart: Bool { isLetter || isNumber || self == "[" }
}
