internal import Accounts
internal import Foundation

extension MessageTemplates {
    package static let spanish = MessageTemplates(
        language: "es",
        formatTime: { $0.formatted(timeFormat) },
        source: { topic in
            switch topic {
            case .confirmRegistration: Spanish.confirmRegistration
            case .registrationOfTakenAddress: Spanish.registrationOfTakenAddress
            case .resetPassword: Spanish.resetPassword
            case .passwordChanged: Spanish.passwordChanged
            case .passwordReset: Spanish.passwordReset
            case .signInCode: Spanish.signInCode
            case .accountDeleted: Spanish.accountDeleted
            case .accountRestored: Spanish.accountRestored
            case .identityLinked: Spanish.identityLinked
            case .identityRemoved: Spanish.identityRemoved
            case .accountsMerged: Spanish.accountsMerged
            case .mergeUndone: Spanish.mergeUndone
            case .addressChanged: Spanish.addressChanged
            case .confirmAddress: Spanish.confirmAddress
            case .confirmLink: Spanish.confirmLink
            }
        })

    /// Seconds are left out, so that the time shown is never later than the real one.
    private static let timeFormat = Date.VerbatimFormatStyle(
        format: """
            \(day: .defaultDigits) de \(month: .wide) de \(year: .defaultDigits), \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits) UTC
            """,
        locale: Locale(identifier: "es"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}

/// As `English`, in the formal address.
enum Spanish {}
