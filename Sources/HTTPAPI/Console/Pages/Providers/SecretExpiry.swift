internal import Foundation
internal import ProviderKit

/// The day on which a provider's secret expires.
struct SecretExpiry {
    /// How many days before it pages warn, as the log does.
    private static let notice = 30
    private let day: Date
    private let daysLeft: Int

    /// Parses the day as the admin API writes it, `2030-01-30`; `nil` for anything else.
    init?(_ value: JSONValue, now: Date = Date()) {
        guard let text = value.string, let day = Timestamp(text + "T00:00:00Z")?.date else { return nil }
        self.day = day
        daysLeft = Int((day.timeIntervalSince(now) / 86_400).rounded(.up))
    }

    private var isOver: Bool { daysLeft <= 0 }
    private var isNear: Bool { (1...Self.notice).contains(daysLeft) }

    /// Whether a new secret is needed now or soon.
    var isDue: Bool { isOver || isNear }

    var json: JSONValue {
        let words = day.formatted(
            Date.FormatStyle(date: .long, time: .omitted, locale: Locale(identifier: "en_GB"), timeZone: .gmt))
        return [
            "day": .string(words), "isOver": .bool(isOver), "isNear": .bool(isNear), "isOneDay": .bool(daysLeft == 1),
            "days": .integer(Int64(daysLeft)),
        ]
    }
}
