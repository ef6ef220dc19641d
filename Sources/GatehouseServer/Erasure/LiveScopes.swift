internal import Accounts
internal import ProviderKit
internal import Synchronization

/// The applications as erasure sees them now; a reload of the configuration puts others in their place.
final class LiveScopes: Sendable {
    private let scopes: Mutex<[ErasureScope]>

    init(_ scopes: [ErasureScope]) {
        self.scopes = Mutex(scopes)
    }

    var all: [ErasureScope] { scopes.withLock { $0 } }

    func replace(with scopes: [ErasureScope]) {
        self.scopes.withLock { $0 = scopes }
    }

    /// Between two looks at guests, by the shortest time that any application keeps them.
    var pause: Duration {
        let shortest = all.map(\.anonymousRetention).min() ?? .seconds(3600)
        return max(.seconds(1), min(shortest / 10, .seconds(600)))
    }
}

extension LiveScopes: RevokingProviders {
    func provider(named name: String, application: Application.ID) -> (any RevokingProvider)? {
        let scope = all.first { $0.application.id == application }
        let configured = scope?.application.providers.all.first { $0.name == name }
        return configured?.provider as? any RevokingProvider
    }
}
