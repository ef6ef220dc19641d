internal import ProviderKit

/// The configuration and the request parameters that the linking rules (`decide`) depend on.
package struct LinkingPolicy: Sendable, Equatable {
    package var mode: ProviderMode
    package var automatic: ApplicationPolicy.AutomaticLinking
    /// Whether the provider proves only an address, by a code or token that is sent there.
    package var provesAddress = false
    package var onConflict = ConflictChoice.keep
    /// Whether a sign-in restores an account in its grace period.
    package var restoresOnSignIn = false
}

extension LinkingPolicy {
    init(_ provider: ConfiguredProvider, in application: Application, onConflict: ConflictChoice = .keep) {
        self.init(
            mode: provider.mode, automatic: application.policy.automaticLinking, provesAddress: provider.provesAddress,
            onConflict: onConflict)
    }

    /// The policy of sign-ins, which may restore an account.
    static func signIn(_ provider: ConfiguredProvider, in application: Application) -> LinkingPolicy {
        var policy = LinkingPolicy(provider, in: application)
        policy.restoresOnSignIn = application.policy.restoresOnSignIn
        return policy
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
