internal import Accounts
internal import Foundation

extension MessageTemplates {
    package static let german = MessageTemplates(
        language: "de",
        formatTime: { $0.formatted(timeFormat) },
        source: { topic in
            switch topic {
            case .confirmRegistration: German.confirmRegistration
            case .registrationOfTakenAddress: German.registrationOfTakenAddress
            case .resetPassword: German.resetPassword
            case .passwordChanged: German.passwordChanged
            case .passwordReset: German.passwordReset
            case .signInCode: German.signInCode
            case .accountDeleted: German.accountDeleted
            case .accountRestored: German.accountRestored
            case .identityLinked: German.identityLinked
            case .identityRemoved: German.identityRemoved
            case .accountsMerged: German.accountsMerged
            case .mergeUndone: German.mergeUndone
            case .addressChanged: German.addressChanged
            case .confirmAddress: German.confirmAddress
            case .confirmLink: German.confirmLink
            }
        })

    /// Seconds are left out, so that the time shown is never later than the real one.
    private static let timeFormat = Date.VerbatimFormatStyle(
        format: """
            \(day: .defaultDigits). \(month: .wide) \(year: .defaultDigits), \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits) Uhr (UTC)
            """,
        locale: Locale(identifier: "de"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}

/// As `English`, in the formal address.
enum German {}
