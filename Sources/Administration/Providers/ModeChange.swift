package import Accounts
package import Foundation
package import ProviderKit

/// A change of a provider's mode, with the ways into accounts before and after it.
package struct ModeChange: Sendable, Equatable {
    package let provider: String
    package let from, to: ProviderMode
    package let now, after: SignInWays
    /// How long a phone number may be unused before a code to it no longer signs in.
    package let idleLimit: Duration
    /// How many identities an account may have, so that another one can join it.
    package let maximumIdentities: Int

    /// The change of one provider of a registry.
    ///
    /// - Returns: `nil` if the registry has no such provider.
    package init?(
        of provider: String, to mode: ProviderMode, among registry: ProviderRegistry, under policy: ApplicationPolicy
    ) {
        guard let changed = registry[provider] else { return nil }
        let changedRegistry = registry.switching([provider: mode])
        (self.provider, from, to) = (provider, changed.mode, mode)
        now = SignInWays(of: registry, joining: policy.automaticLinking)
        after = SignInWays(of: changedRegistry, joining: policy.automaticLinking)
        // The registry without codes to phones has no limit of its own.
        idleLimit =
            (changedRegistry.challengeProvider(for: .phone) == nil ? registry : changedRegistry).phoneIdleLimit
        maximumIdentities = policy.maximumIdentities
    }

    /// Whether the provider's identities sign in before the change and no longer after it.
    package var endsSignIn: Bool {
        now.identities.contains(provider) && !after.identities.contains(provider)
    }

    /// The rule that refuses what the change ends; `nil` if the mode becomes wider or stays.
    package var rule: LinkingRule? {
        guard to.isNarrower(than: from) else { return nil }
        return switch to {
        case .open: nil
        case .existing: .providerNoSignUp
        case .linkOnly: .providerLinkOnly
        case .off: .providerOff
        }
    }
}

/// What a change of mode does to the accounts that can sign in before it.
///
/// Counted are live accounts with an identity of the provider, and those that its codes alone let in. Guests, disabled
/// accounts and those in their grace period are not among them.
package struct ModeEffect: Sendable, Equatable {
    package var identities, accounts: Int
    /// Accounts in their grace period with an identity of the provider.
    package var inGrace: Int
    /// Accounts that can't sign in any more.
    package var stranded: Int
    /// Accounts that have no other usable identity, but that a code, a password reset or a quarantined identity opens.
    package var detour: Int
    package var unaffected: Int { accounts - stranded - detour }
    /// Live sessions of stranded accounts.
    package var sessionsOfStranded: Int
    /// The first stranded accounts, by uid.
    package var sample: [UUID]
    package var admins: Admins

    /// The administrators that were asked about, by what becomes of them.
    ///
    /// For them only the identities count that their grants name.
    package struct Admins: Sendable, Equatable {
        /// Those that can't sign in any more, or only as people without a role.
        package var stranded: [UUID]
        package var detour: [UUID]
        /// Those that can sign in as administrators after the change.
        package var remaining: [UUID]

        package init(stranded: [UUID], detour: [UUID], remaining: [UUID]) {
            (self.stranded, self.detour, self.remaining) = (stranded, detour, remaining)
        }
    }

    package init(
        identities: Int, accounts: Int, inGrace: Int, stranded: Int, detour: Int, sessionsOfStranded: Int,
        sample: [UUID], admins: Admins
    ) {
        (self.identities, self.accounts, self.inGrace) = (identities, accounts, inGrace)
        (self.stranded, self.detour, self.sessionsOfStranded) = (stranded, detour, sessionsOfStranded)
        (self.sample, self.admins) = (sample, admins)
    }
}

extension ModeEffect {
    /// The counts as the audit records them.
    package var details: [String: JSONValue] {
        [
            "accounts": .integer(Int64(accounts)), "inGrace": .integer(Int64(inGrace)),
            "stranded": .integer(Int64(stranded)), "detour": .integer(Int64(detour)),
            "unaffected": .integer(Int64(unaffected)),
        ]
    }
}
