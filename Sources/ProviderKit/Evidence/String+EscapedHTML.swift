extension String {
    /// The text with `&`, `<`, `>` and quotes escaped, for HTML elements and for attributes in quotes.
    ///
    /// It escapes Unicode scalars instead of characters: Swift joins a quote and a combining mark after it to one
    /// character, and likewise some letters and a `<` after them, but a browser does not.
    package var escapedHTML: String {
        var escaped = ""
        escaped.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
