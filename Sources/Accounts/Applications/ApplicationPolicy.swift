internal import Foundation
internal import ProviderKit

package struct ApplicationPolicy: Sendable, Equatable {
    package struct Tokens: Sendable, Equatable, Decodable {
        package var algorithm: SigningAlgorithm = .rs256
        /// 2048, 3072 or 4096; used only for RS256.
        package var rsaBits = 3072
        package var accessLifetime: Duration = .seconds(3600)
        /// The longest allowed `accessLifetime`.
        package static let longestAccessLifetime: Duration = .seconds(86_400)
        /// How long a refresh token is valid; each rotation issues a token with the full lifetime.
        package var refreshLifetime: Duration = .seconds(30 * 86400)
        package var refreshReuseInterval: Duration = .seconds(10)
        /// How long a client that lost the response can repeat a refresh.
        package var refreshRecovery: Duration = .seconds(72 * 3600)
        /// The lifetime of a session from its sign-in, regardless of refreshes.
        package var sessionLifetime: Duration = .seconds(365 * 86400)
        /// The lifetime of a session opened with `remember: false`, if it is shorter than `sessionLifetime`.
        package var shortSessions: Duration = .seconds(12 * 3600)

        package init() {}
    }

    /// Whether an unknown identity is linked to the live account that owns the identity's verified address.
    package enum AutomaticLinking: String, Sendable, CaseIterable { case verified, never }

    /// Which modes administrators may set for a provider instead of the configured one.
    package enum Switches: String, Sendable, CaseIterable {
        case none
        /// Modes that allow less.
        case narrower
        case any
    }

    package var tokens = Tokens()
    package var switches = Switches.narrower
    /// The longest lifetime of access tokens among those configured for OpenID clients and resources.
    package var longestClientLifetime: Duration = .zero
    /// How long sensitive calls are allowed after an authentication.
    package var recentAuthentication: Duration = .seconds(300)
    /// The same for the deletion of the account; `nil` allows it at any time.
    package var recentAuthenticationToDelete: Duration? = .seconds(300)
    package var revealExistingIdentities = false
    package var automaticLinking: AutomaticLinking = .verified
    /// The maximum number of identities of an account, not counting guest identities.
    package var maximumIdentities = 50
    package var undoWindow: Duration = .seconds(7 * 86400)
    /// The form of PINs, for dialects that have them.
    package var pin = PinRules()
    package var access = AccessRules()
    package var deletionGracePeriod: Duration = .seconds(30 * 86400)
    /// Whether a sign-in restores an account in its grace period, instead of being refused with a token to restore it.
    package var restoresOnSignIn = false

    package init() {}

    /// The longest lifetime of any access token of the application.
    package var longestAccessLifetime: Duration { max(tokens.accessLifetime, longestClientLifetime) }

    /// Whether an authentication is recent enough at `now` for a sensitive call, compared in whole seconds.
    func isRecent(_ authentication: Date, now: Date, for call: SensitiveCall = .any) -> Bool {
        guard let most = call == .deletion ? recentAuthenticationToDelete : recentAuthentication else { return true }
        return now.timeIntervalSince(authentication).rounded(.down) <= most.inSeconds
    }
}

/// A call that needs a recent authentication.
package enum SensitiveCall: Sendable {
    /// The deletion of the account, which applications may allow at any time, because it can be undone.
    case deletion
    case any
}
