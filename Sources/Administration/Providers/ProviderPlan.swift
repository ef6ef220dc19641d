internal import Accounts
package import Foundation

/// What a change of a provider's mode would do, for an administrator to confirm.
package struct ProviderPlan: Sendable, Equatable {
    package let id: UUID
    package let validUntil: Date
    package let change: ModeChange
    package let effect: ModeEffect
    package let traffic: ProviderTraffic
    package let admins: AdminImpact
    /// The phrase that confirms the switch.
    package let confirm: String
    /// How the configuration would say the same.
    package let yaml: String
}

/// How much a provider is used.
package struct ProviderTraffic: Sendable, Equatable {
    /// Live sessions that the provider's identities have opened.
    package var sessions: Int
    /// Sign-ins with the provider in the last seven days whose sessions are still known.
    package var recentSignIns: Int
    /// Redirects to the provider, and codes that it has sent, which are not used yet.
    package var flowsUnderWay: Int

    package init(sessions: Int, recentSignIns: Int, flowsUnderWay: Int) {
        (self.sessions, self.recentSignIns, self.flowsUnderWay) = (sessions, recentSignIns, flowsUnderWay)
    }
}

/// What a change of mode does to administrators.
package struct AdminImpact: Sendable, Equatable {
    /// How many need another way in, or have none.
    package var affected = 0
    /// Whether no owner of all applications could sign in as such any more.
    package var lastOwner = false
    /// Whether the administrator who asks could not sign in as such any more.
    package var you = false

    package init() {}

    /// `owners` are the owners of all applications.
    package init(of admins: ModeEffect.Admins, owners: Set<UUID>, you: UUID?) {
        affected = admins.stranded.count + admins.detour.count
        lastOwner = !owners.isDisjoint(with: admins.stranded) && owners.isDisjoint(with: admins.remaining)
        self.you = you.map(admins.stranded.contains) ?? false
    }

    package var locksOut: Bool { lastOwner || you }
}

extension ProviderMode {
    /// The phrase that confirms a switch to this mode.
    func phrase(for provider: String, of application: Application) -> String {
        "\(application.name)/\(provider) \(rawValue)"
    }
}
