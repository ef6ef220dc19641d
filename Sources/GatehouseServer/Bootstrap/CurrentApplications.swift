internal import Accounts
internal import ProviderKit
internal import Synchronization

/// The longest lifetime of an access token in any application since the process started.
final class LongestAccessLifetime: Sendable {
    private let lifetime: Mutex<Duration>

    init(_ configuration: Configuration) { lifetime = Mutex(configuration.longestAccessLifetime) }
    var value: Duration { lifetime.withLock { $0 } }

    /// Raises the value if needed.
    ///
    /// It never falls, because tokens issued earlier stay valid for their own lifetime.
    func raise(to configuration: Configuration) {
        lifetime.withLock { $0 = max($0, configuration.longestAccessLifetime) }
    }
}

extension Configuration {
    fileprivate var longestAccessLifetime: Duration { applications.map(\.policy.tokens.accessLifetime).max() ?? .zero }
}

/// The applications of the configuration in force, in the form that erasure needs.
final class CurrentScopes: Sendable {
    private let scopes: Mutex<[ErasureScope]>

    init(_ scopes: [ErasureScope]) { self.scopes = Mutex(scopes) }
    var all: [ErasureScope] { scopes.withLock { $0 } }
    func replace(with scopes: [ErasureScope]) { self.scopes.withLock { $0 = scopes } }

    /// The pause between two searches for idle guests: a tenth of the shortest retention, from a second to ten minutes.
    var pause: Duration {
        let shortest = all.map(\.anonymousRetention).min() ?? .seconds(3600)
        return max(.seconds(1), min(shortest / 10, .seconds(600)))
    }
}

extension CurrentScopes: RevokingProviders {
    func provider(named name: String, application: Application.ID) -> (any RevokingProvider)? {
        let scope = all.first { $0.application.id == application }
        let configured = scope?.application.providers.all.first { $0.name == name }
        return configured?.provider as? any RevokingProvider
    }
}
