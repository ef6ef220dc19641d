/// Markup, in which interpolated text is escaped: only literals, files and other markup add tags.
///
/// Escaped text is safe in an element's content and in a quoted attribute, but not in a script, a style or a tag.
struct HTML: Sendable, Equatable, ExpressibleByStringInterpolation {
    private(set) var markup: String

    init(stringLiteral markup: String) {
        self.markup = markup
    }

    init(stringInterpolation: Interpolation) {
        markup = stringInterpolation.markup
    }

    init(escaping text: some StringProtocol) {
        markup = Self.escape(text)
    }

    /// Reads an embedded file of this folder and replaces each `{{name}}` in it by its value.
    init(file: String, _ values: [String: HTML] = [:]) {
        markup = ""
        var rest = (EmbeddedFiles.all["Pages/\(file)"] ?? "")[...]
        while let tag = rest.firstMatch(of: /{{(\w+)}}/) {
            markup += rest[..<tag.range.lowerBound] + (values[String(tag.output.1)]?.markup ?? "")
            rest = rest[tag.range.upperBound...]
        }
        markup += rest
    }

    static func + (left: HTML, right: HTML) -> HTML {
        var sum = left
        sum.markup += right.markup
        return sum
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) {
            markup += literal
        }

        mutating func appendInterpolation(_ text: some StringProtocol) {
            markup += HTML.escape(text)
        }

        mutating func appendInterpolation(_ html: HTML) {
            markup += html.markup
        }
    }

    private static func escape(_ text: some StringProtocol) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
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

extension [HTML] {
    func joined() -> HTML {
        reduce("", +)
    }
}
