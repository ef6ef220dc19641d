/// Markup: what is interpolated into it is escaped, so that only literals and other markup bring tags.
///
/// Escaped text is safe in an element's content and inside a quoted attribute, not in a script, a style or a tag.
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
