internal import Foundation
internal import ProviderKit

/// The languages of the pages.
package enum PageLanguage: String, Sendable, CaseIterable {
    case en, de, fr, es

    /// The language's own name.
    var name: String {
        switch self {
        case .en: "English"
        case .de: "Deutsch"
        case .fr: "Français"
        case .es: "Español"
        }
    }

    /// The first language that is available; each preference is a tag or an `Accept-Language` list.
    package init(preferences: [String?]) {
        let tags = preferences.lazy.compactMap { $0 }.flatMap { LanguageRange.tags($0) }
        self = tags.compactMap { PageLanguage(rawValue: $0) }.first ?? .en
    }

    /// A day in words, which no line break divides.
    func text(of date: Date) -> String {
        let locale = Locale(identifier: self == .en ? "en_GB" : rawValue)
        return date.formatted(Date.FormatStyle(date: .long, time: .omitted, locale: locale, timeZone: .gmt))
            .replacing(" ", with: "\u{A0}")
    }

    /// A day and a time; the person's time zone is not known.
    func text(ofTime date: Date) -> String { "\(text(of: date)), \(date.formatted(Self.clock))\u{A0}UTC" }

    private static let clock = Date.VerbatimFormatStyle(
        format: "\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)",
        timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}
