internal import Accounts
internal import ProviderKit

extension ApplicationPolicy.Tokens: SettingsSection {
    static let settings = [
        Setting(
            "algorithm", .choice(SigningAlgorithm.allCases), default: "RS256",
            help: "How access tokens, ID tokens and logout tokens are signed."),
        Setting("rsaBits", .choice(["2048", "3072", "4096"]), default: "3072", help: "The size of new RS256 keys."),
        Setting(
            "accessLifetime", .duration(.seconds(1)...longestAccessLifetime), default: "1h",
            help: "How long an access token is valid."),
        Setting(
            "refreshLifetime", .positiveDuration, default: "30d",
            help: "How long a session may stay unused. Each refresh starts the time again."),
        Setting(
            "refreshReuseInterval", .duration(.zero ... .seconds(3600)), default: "10s",
            help: "How long the same refresh token may be presented again and gets the same successor."),
        Setting(
            "refreshRecovery", .duration, default: "3d",
            help: """
                How long a refresh token gets its successor again if that was never presented, because the response \
                was lost. Later it counts as reuse, which ends the session.
                """),
        Setting("sessionLifetime", .positiveDuration, default: "365d", help: "The longest a session can last."),
        Setting(
            "shortSessions", .positiveDuration, default: "12h",
            help: """
                The longest a session can last that an app opens with "remember": false, counted from the sign-in. \
                Refreshing does not extend it.
                """),
    ]
}
