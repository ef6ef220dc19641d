extension Migration {
    /// The statements of the SQL, each without its semicolon.
    ///
    /// Respects strings, quoted names, dollar quotes and comments. A string must not contain `\'`, and the body of a
    /// function must be a string or an expression, not `BEGIN ATOMIC`.
    var statements: [String] {
        let text = Array(sql.utf8)
        var statements: [String] = []
        var (start, index, hasCode) = (0, 0, false)
        func end(of closing: some Collection<UInt8>, from begin: Int) -> Int {
            text[min(begin, text.count)...].firstRange(of: closing)?.upperBound ?? text.count
        }
        while index < text.count {
            let rest = text[index...]
            if rest.starts(with: "--".utf8) {
                index = end(of: "\n".utf8, from: index)
            } else if rest.starts(with: "/*".utf8) {
                index = end(of: "*/".utf8, from: index)
            } else if text[index] == UInt8(ascii: ";") {
                if hasCode { statements.append(String(decoding: text[start..<index], as: UTF8.self)) }
                index += 1
                (start, hasCode) = (index, false)
            } else {
                let quote = Self.openingQuote(of: rest)
                hasCode = hasCode || !" \t\r\n".utf8.contains(text[index])
                index = quote.isEmpty ? index + 1 : end(of: quote, from: index + quote.count)
            }
        }
        if hasCode { statements.append(String(decoding: text[start...], as: UTF8.self)) }
        return statements
    }

    /// The quotation mark that the text begins with, such as `'`, `"` or `$name$`; empty if it begins with none.
    private static func openingQuote(of text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        switch text.first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return text.prefix(1)
        case UInt8(ascii: "$"):
            let name = text.dropFirst().prefix {
                $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
            }
            return text.dropFirst(1 + name.count).first == UInt8(ascii: "$") ? text.prefix(name.count + 2) : []
        default: return []
        }
    }
}
