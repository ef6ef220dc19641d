package import Foundation

extension Date {
    /// The time as the API writes it (RFC 3339), to the nearest millisecond.
    package var precise: String {
        // `ISO8601FormatStyle` truncates, and the nearest `Double` may be slightly below the whole millisecond.
        let milliseconds = (timeIntervalSince1970 * 1000).rounded() + 0.25
        return Date(timeIntervalSince1970: milliseconds / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Parses what `precise` returns.
    package init?(precise text: String) {
        guard let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) else {
            return nil
        }
        self = date
    }
}
