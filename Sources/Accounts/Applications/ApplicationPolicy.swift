internal import Foundation

/// What an application decides for itself.
package struct ApplicationPolicy: Sendable, Equatable {
    package struct Tokens: Sendable, Equatable {
        package var algorithm: SigningAlgorithm = .rs256
        /// 2048, 3072 or 4096; meaningful for RS256 alone.
        package var rsaBits = 3072
        package var accessLifetime: Duration = .seconds(3600)
        /// What `accessLifetime` can be at most.
        package static let longestAccessLifetime: Duration = .seconds(86_400)
        /// Slides: each rotation starts it anew.
        package var refreshLifetime: Duration = .seconds(30 * 86400)
        package var refreshReuseInterval: Duration = .seconds(10)
        /// How long a lost answer can be asked for again.
        package var refreshRecovery: Duration = .seconds(72 * 3600)
        /// Absolute, from sign-in on.
        package var sessionLifetime: Duration = .seconds(365 * 86400)

        package init() {}
    }

    /// What happens when an unknown identity carries a verified address that one live account owns.
    package enum AutomaticLinking: String, Sendable {
        case verified, never
    }

    package var tokens = Tokens()
    /// How long after authentication a sensitive call is still allowed.
    package var recentAuthentication: Duration = .seconds(300)
    package var revealExistingIdentities = false
    package var automaticLinking: AutomaticLinking = .verified
    /// How long a merge can be undone.
    package var undoWindow: Duration = .seconds(7 * 86400)
    package var deletionGracePeriod: Duration = .seconds(30 * 86400)

    package init() {}

    /// Whether an authentication at that time still allows a sensitive call, in whole seconds.
    func isRecent(_ authentication: Date, now: Date) -> Bool {
        now.timeIntervalSince(authentication).rounded(.down) <= TimeInterval(recentAuthentication.components.seconds)
    }
}
