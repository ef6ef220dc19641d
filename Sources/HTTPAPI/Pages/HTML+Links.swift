extension HTML {
    /// Text whose `http` and `https` addresses can be clicked; every other scheme, `javascript:` first, stays text.
    init(linking text: String) {
        var html: HTML = ""
        var rest = text[...]
        while let start = rest.firstWebAddress {
            let run = rest[start...].prefix { !$0.endsAddress }
            let address = run.withoutTrailingPunctuation
            let link: HTML = "<a href=\"\(address)\" target=\"_blank\" rel=\"noopener noreferrer\">\(address)</a>"
            html = html + HTML(escaping: rest[..<start]) + link
            rest = rest[address.endIndex...]
        }
        self = html + HTML(escaping: rest)
    }
}

extension Substring {
    /// Where `http://` or `https://` and a character after it stand, at the start of a word.
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
        ["https://", "http://"].first { scheme in
            prefix(scheme.count).lowercased() == scheme
        }
    }

    /// A sentence's full stop, or the bracket around an address, is not the address's.
    fileprivate var withoutTrailingPunctuation: Substring {
        var address = self
        while let last = address.last, ".,;:!?)]}'*".contains(last) {
            address = address.dropLast()
        }
        return address
    }
}

extension Character {
    fileprivate var endsAddress: Bool {
        isWhitespace || self == "<" || self == ">" || self == "\""
    }

    fileprivate var isHostStart: Bool {
        isLetter || isNumber || self == "["
    }
}
