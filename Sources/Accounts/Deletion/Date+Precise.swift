package import Foundation

extension Date {
    /// As the contract writes times (RFC 3339), to the nearest millisecond.
    package var precise: String {
        // The style cuts off what a binary fraction lacks.
        let milliseconds = (timeIntervalSince1970 * 1000).rounded() + 0.25
        return Date(timeIntervalSince1970: milliseconds / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// What `precise` has written.
    package init?(precise text: String) {
        guard let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) else {
            return nil
        }
        self = date
    }
}
