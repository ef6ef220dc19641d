internal import ProviderKit

/// The configuration and the request parameters that the linking rules depend on.
package struct LinkingPolicy: Sendable, Equatable {
    package var mode: ProviderMode
    package var automatic: ApplicationPolicy.AutomaticLinking
    /// Whether the provider proves only an address, by a code or token that is sent there.
    package var provesAddress = false
    package var onConflict = ConflictChoice.keep
}

extension LinkingPolicy {
    init(_ provider: ConfiguredProvider, in application: Application, onConflict: ConflictChoice = .keep) {
        self.init(
            mode: provider.mode, automatic: application.policy.automaticLinking, provesAddress: provider.provesAddress,
            onConflict: onConflict)
    }
}

/// What to do if a guest links an identity that has an account.
package enum ConflictChoice: String, Sendable, SentChoice {
    /// Refuse the link.
    case keep
    /// Sign in to that account and delete the guest's.
    case `switch`
    /// Sign in to that account and merge the guest's into it.
    case merge
}
