internal import Foundation
internal import ProviderKit

extension JSONValue {
    /// The value for a template: texts are cut, times are in words, and large numbers have separators.
    ///
    /// A time becomes a `ShownTime`, so that a template can write the element `time`. A text named
    /// `whole` is shown in full length. A text named `exact`, for the values of forms, is not changed at all. Members that
    /// are `null` are absent. A text that may have code between backticks also has its `spans`, as in `helpSpans`.
    var shown: Any {
        switch self {
        case .null: false
        case .bool(let value): value
        case .integer(let value): value.formatted(.number.locale(Locale(identifier: "en_GB")))
        case .number(let value): "\(value)"
        case .string(let text):
            text.time.map { ShownTime(iso: text, text: $0) } ?? text.visible(longest: String.longest)
        case .array(let items): items.map(\.shown)
        case .object(let members):
            members.reduce(into: [String: Any]()) { shown, member in
                switch (member.key, member.value) {
                case (_, .null): break
                case ("whole", .string(let text)): shown["whole"] = text.visible(longest: .max)
                case ("exact", .string(let text)): shown["exact"] = text
                case (let key, .string(let text)) where Self.keysWithCode.contains(key):
                    (shown[key], shown["\(key)Spans"]) = (member.value.shown, text.spans)
                default: shown[member.key] = member.value.shown
                }
            }
        }
    }

    private static let keysWithCode: Set = ["help", "message", "problem", "remedy", "text"]
}

/// A time in a template: `iso` for programs and `text` for people; by itself it prints the text as it was sent, because a
/// name may look like a time.
private struct ShownTime: CustomStringConvertible {
    let iso, text: String

    var description: String { iso }
}

extension String {
    /// The longest text that a page shows, in Unicode scalars.
    fileprivate static let longest = 300

    /// The text, shortened to the greatest length that a page shows.
    package var beginning: String {
        guard unicodeScalars.count > Self.longest else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(Self.longest))) + "…"
    }

    /// The parts of the text for the template `span`; text between two backticks is code.
    fileprivate var spans: [[String: Any]] {
        let parts = visible(longest: Self.longest).split(separator: "`", omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { return [["span": parts.joined(separator: "`"), "isCode": false]] }
        return parts.enumerated().filter { !$0.element.isEmpty }.map {
            ["span": String($0.element), "isCode": $0.offset % 2 == 1]
        }
    }

    /// The text with characters that change the direction of text written as their numbers, and cut.
    fileprivate func visible(longest: Int) -> String {
        var shown = ""
        var count = 0
        for scalar in unicodeScalars {
            guard count < longest else { return shown + "…" }
            count += 1
            switch scalar.value {
            case 0x61C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069:
                shown += "U+" + String(scalar.value, radix: 16, uppercase: true)
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// The words for a time of RFC 3339 in UTC; `nil` for another text.
    fileprivate var time: String? {
        let bytes = Array(utf8)
        guard (20...30).contains(bytes.count), bytes[4] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"),
            bytes.last == UInt8(ascii: "Z"),
            let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: bytes.count > 20).parse(self)
        else { return nil }
        return "\(date.formatted(Self.words)) UTC"
    }

    private static let words = Date.VerbatimFormatStyle(
        format:
            "\(day: .defaultDigits) \(month: .abbreviated) \(year: .defaultDigits), \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)",
        locale: Locale(identifier: "en_GB"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}
