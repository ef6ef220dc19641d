internal import Accounts
internal import Foundation

extension MessageTemplates {
    package static let english = MessageTemplates(
        language: "en",
        formatTime: { "\($0.formatted(timeFormat)) UTC" },
        source: { topic in
            switch topic {
            case .confirmRegistration: English.confirmRegistration
            case .registrationOfTakenAddress: English.registrationOfTakenAddress
            case .resetPassword: English.resetPassword
            case .passwordChanged: English.passwordChanged
            case .passwordReset: English.passwordReset
            case .signInCode: English.signInCode
            case .accountDeleted: English.accountDeleted
            case .accountRestored: English.accountRestored
            case .identityLinked: English.identityLinked
            case .identityRemoved: English.identityRemoved
            case .accountsMerged: English.accountsMerged
            case .mergeUndone: English.mergeUndone
            case .addressChanged: English.addressChanged
            case .confirmAddress: English.confirmAddress
            case .confirmLink: English.confirmLink
            }
        })

    /// Seconds are left out, so that the time shown is never later than the real one.
    private static let timeFormat = Date.VerbatimFormatStyle(
        format: """
            \(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits), \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)
            """,
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}

/// Each message says what happened, what to do, and what to do if it wasn't you.
enum English {}
