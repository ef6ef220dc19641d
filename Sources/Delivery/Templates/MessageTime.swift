internal import Foundation

/// Formats points in time for messages, in UTC.
///
/// Seconds are truncated, so that the time shown is never later than the actual time.
enum MessageTime {
    static func text(_ date: Date, language: String) -> String {
        let time = format(
            date, "\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)")
        let plain: Date.FormatString = "\(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits)"
        return switch language {
        case "en": "\(format(date, plain)), \(time) UTC"
        case "fr": "\(format(date, plain, in: "fr")) à \(time) UTC"
        case "de":
            "\(format(date, "\(day: .defaultDigits). \(month: .wide) \(year: .defaultDigits)", in: "de")), \(time) Uhr (UTC)"
        case "es":
            "\(format(date, "\(day: .defaultDigits) de \(month: .wide) de \(year: .defaultDigits)", in: "es")), \(time) UTC"
        default: "\(format(date, "\(year: .padded(4))-\(month: .twoDigits)-\(day: .twoDigits)")) \(time) UTC"
        }
    }

    private static func format(_ date: Date, _ format: Date.FormatString, in locale: String = "en_US_POSIX") -> String {
        date.formatted(
            Date.VerbatimFormatStyle(
                format: format, locale: Locale(identifier: locale), timeZone: .gmt,
                calendar: Calendar(identifier: .gregorian)))
    }
}
