package import Accounts
internal import OpenID
internal import ProviderKit

/// The dialects of an application with their settings; `nil` for one that is off.
package struct DialectSettings: Sendable, Equatable {
    package var immich: ImmichSettings?
    package var timeTracker: TimeTrackerSettings?

    package init(immich: ImmichSettings? = nil, timeTracker: TimeTrackerSettings? = nil) {
        (self.immich, self.timeTracker) = (immich, timeTracker)
    }

    /// Whether the apps of a dialect, by its name, sign people in at the application's own pages.
    package func usesOwnPages(in dialect: String) -> Bool {
        let provider = dialect == Immich.name ? immich?.provider : timeTracker?.provider
        return provider?.hasSameBytes(as: OwnClient.hostedProvider) == true
    }
}

/// The settings of the dialect `timetracker`.
package struct TimeTrackerSettings: Sendable, Equatable {
    /// The name of the provider whose pages `GET /auth/login` opens, or `hosted` for the application's own pages.
    package let provider: String
    /// The only redirect URI that the app may name; `nil` allows all that are registered without PKCE.
    package let redirectURI: String?
    package let renewal: Renewal

    package init(provider: String, redirectURI: String?, renewal: Renewal) {
        (self.provider, self.redirectURI, self.renewal) = (provider, redirectURI, renewal)
    }
}
