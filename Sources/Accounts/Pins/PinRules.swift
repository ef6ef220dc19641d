package import Foundation
internal import ProviderKit

/// The form of PINs, and how long they unlock a session.
package struct PinRules: Sendable, Equatable {
    /// The numbers of digits that the configuration can choose from.
    package static let lengths = 4...6

    /// How many digits a new PIN has.
    package var digits = lengths
    /// How long a session stays unlocked.
    package var elevation: Duration = .seconds(15 * 60)

    package init() {}

    /// - Throws: `AccountsError.invalidParameter` unless the new PIN has the configured number of digits.
    func requireForm(of pin: String, in parameter: String) throws {
        try Self.requireDigits(digits, of: pin, in: parameter)
    }

    /// Throws if no PIN can have this form, so that nothing is counted for an input that is no guess.
    ///
    /// The configured number of digits may have changed since the PIN was set, so it is not required.
    static func requirePossible(_ pin: String, in parameter: String) throws {
        try requireDigits(lengths, of: pin, in: parameter)
    }

    private static func requireDigits(_ count: ClosedRange<Int>, of pin: String, in parameter: String) throws {
        guard pin.utf8.allSatisfy(\.isASCIIDigit), count.contains(pin.utf8.count) else {
            let number = count.lowerBound == count.upperBound ? "" : "\(count.lowerBound) to "
            throw AccountsError.invalidParameter(parameter, reason: "must be \(number)\(count.upperBound) digits")
        }
    }
}

extension OpaqueTokens {
    /// The key under which wrong PINs of an account are counted.
    package func pinAttempts(of uid: UUID) -> AttemptKey {
        AttemptKey(bytes: pseudonym(of: "pin:\(uid.text)", purpose: "password attempts"))
    }

    /// The HMAC of the PIN, which is hashed in its place: the few possible PINs could be guessed from a stolen hash.
    func keyed(pin: String, of uid: UUID) -> String {
        pseudonym(of: "\(uid.text)|\(pin)", purpose: "pin").hex
    }
}
