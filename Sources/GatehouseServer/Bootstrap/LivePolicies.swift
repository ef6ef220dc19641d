internal import Accounts
internal import Synchronization

/// What long-lived parts ask of the configuration in force.
final class LivePolicies: Sendable {
    private let accessLifetime: Mutex<Duration>

    init(_ configuration: Configuration) {
        accessLifetime = Mutex(configuration.longestAccessLifetime)
    }

    /// Never falls while the server runs: revocations of the tokens under way stay in memory.
    var longestAccessLifetime: Duration {
        accessLifetime.withLock { $0 }
    }

    func take(over configuration: Configuration) {
        accessLifetime.withLock { $0 = max($0, configuration.longestAccessLifetime) }
    }
}

extension Configuration {
    fileprivate var longestAccessLifetime: Duration {
        applications.map(\.policy.tokens.accessLifetime).max() ?? .zero
    }
}
