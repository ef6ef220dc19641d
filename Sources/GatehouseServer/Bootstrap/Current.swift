internal import Accounts
internal import ProviderKit
internal import Synchronization

/// A value that a reload or a background service replaces while the server runs.
final class Current<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    init(_ value: Value) { stored = Mutex(value) }

    var value: Value { stored.withLock { $0 } }

    func replace(with value: Value) { stored.withLock { $0 = value } }
    func update(_ change: (inout Value) -> Void) { stored.withLock { change(&$0) } }
}

extension Configuration {
    /// The longest lifetime of an access token in any application.
    var longestAccessLifetime: Duration { applications.map(\.policy.longestAccessLifetime).max() ?? .zero }
}

/// The applications of the configuration in force, in the form that erasure needs.
extension Current: RevokingProviders where Value == [ErasureScope] {
    /// The pause between two searches for idle guests: a tenth of the shortest retention, from a second to ten minutes.
    var pause: Duration {
        let shortest = value.map(\.anonymousRetention).min() ?? .seconds(3600)
        return max(.seconds(1), min(shortest / 10, .seconds(600)))
    }

    func provider(named name: String, application: Application.ID) -> (any RevokingProvider)? {
        let scope = value.first { $0.application.id == application }
        return scope?.application.providers[name]?.provider as? any RevokingProvider
    }
}
