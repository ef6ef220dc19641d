extension String {
    /// The text with `&`, `<`, `>` and quotes escaped, for HTML elements and for attributes in quotes.
    ///
    /// It looks at Unicode scalars, as browsers do. A Swift `Character` may have several: a quote and a combining mark
    /// after it are one character, which is not equal to a quote and so would not be escaped.
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
