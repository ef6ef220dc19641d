internal import Foundation
internal import HTTPAPI

/// A day of the calendar, as in `2030-01-30`.
struct Day: Decodable, Sendable, Equatable {
    /// The beginning of the day in UTC.
    let start: Date

    init?(_ text: String) {
        guard text.utf8.count == 10, let start = Timestamp("\(text)T00:00:00Z")?.date else { return nil }
        self.start = start
    }

    init(from decoder: any Decoder) throws { self = try decoder.parse { Day($0) } }
}

extension Form {
    /// A day of the calendar.
    static let day = Form.text("a day as in 2030-01-30") { Day($0) == nil ? nil : $0 }
}
