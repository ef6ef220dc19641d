internal import Foundation

/// The field `Retry-After` (RFC 9110, 10.2.3).
enum RetryAfter {
    /// The pause that a response asks for.
    ///
    /// A pause until a time is measured from the response's own `Date`, because the device's clock may be wrong.
    static func duration(in headers: [String: String]) -> Duration? {
        guard let text = headers["retry-after"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Int32(text) { return .seconds(max(0, seconds)) }
        guard let end = date(text), let start = headers["date"].flatMap(date) else { return nil }
        return .seconds(min(max(0, end.timeIntervalSince(start)), Double(Int32.max)))
    }

    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text.trimmingCharacters(in: .whitespaces))
    }
}
