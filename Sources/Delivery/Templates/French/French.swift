internal import Accounts
internal import Foundation

extension MessageTemplates {
    package static let french = MessageTemplates(
        language: "fr",
        formatTime: { $0.formatted(timeFormat) },
        source: { topic in
            switch topic {
            case .confirmRegistration: French.confirmRegistration
            case .registrationOfTakenAddress: French.registrationOfTakenAddress
            case .resetPassword: French.resetPassword
            case .passwordChanged: French.passwordChanged
            case .passwordReset: French.passwordReset
            case .signInCode: French.signInCode
            case .accountDeleted: French.accountDeleted
            case .accountRestored: French.accountRestored
            case .identityLinked: French.identityLinked
            case .identityRemoved: French.identityRemoved
            case .accountsMerged: French.accountsMerged
            case .mergeUndone: French.mergeUndone
            case .addressChanged: French.addressChanged
            case .confirmAddress: French.confirmAddress
            case .confirmLink: French.confirmLink
            }
        })

    /// Seconds are left out, so that the time shown is never later than the real one.
    private static let timeFormat = Date.VerbatimFormatStyle(
        format: """
            \(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits) à \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits) UTC
            """,
        locale: Locale(identifier: "fr"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}

/// As `English`, in the formal address.
enum French {}
