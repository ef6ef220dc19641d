internal import Accounts
internal import ProviderKit

/// The applications of the configuration in force, in the form that erasure needs.
struct CurrentScopes: RevokingProviders {
    private let current: Current<[ErasureScope]>

    init(_ scopes: [ErasureScope]) { current = Current(scopes) }

    var value: [ErasureScope] { current.value }

    func replace(with scopes: [ErasureScope]) { current.replace(with: scopes) }

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
