package import Accounts
package import Foundation
internal import ProviderKit

/// How the service behind a provider has answered this server.
package struct UpstreamState: Sendable, Equatable {
    package let isUp: Bool
    package let lastSuccess: Date?

    package init(isUp: Bool, lastSuccess: Date?) { (self.isUp, self.lastSuccess) = (isUp, lastSuccess) }
}

package protocol UpstreamHealth: Sendable {
    /// - Returns: `nil` if the provider has called no service.
    func state(of provider: String, application: String) -> UpstreamState?
}

package protocol ProviderActivityStore: Sendable {
    /// What people have done with the application's providers, by name.
    func activity(application: Application.ID) async throws -> [String: ProviderActivity]
}

/// What people have done with a provider.
package struct ProviderActivity: Sendable, Equatable {
    package let lastUse: Date?
    /// In the last 24 hours.
    package let signIns, signUps: Int

    package init(lastUse: Date?, signIns: Int, signUps: Int) {
        (self.lastUse, self.signIns, self.signUps) = (lastUse, signIns, signUps)
    }
}

/// A provider as administrators see it.
package struct ProviderStatus: Sendable {
    package enum Health: String, Sendable, CaseIterable {
        case ok, failing
        /// It has no service behind it, or has not called it yet.
        case unknown
    }

    package let provider: ConfiguredProvider
    /// The mode in force.
    package let mode: ProviderMode
    package let switched: ProviderSwitch?
    package let callbackURL: String?
    package let health: Health
    package let lastSuccess: Date?
    /// `nil` if it could not be read in time.
    package let activity: ProviderActivity?
}

/// The providers of an application: modes, switches and health.
package struct ProviderOverview: Sendable {
    let store: any ProviderActivityStore & BoundedTransactions
    let switches: ProviderSwitches
    let upstreams: any UpstreamHealth

    /// Statements that read much may take only this long, since the rest is useful without them.
    private static let patience: Duration = .seconds(2)

    package func list(of application: Application) async throws -> [ProviderStatus] {
        let inForce = try await switches.inForce(of: application)
        let activity = try await activity(of: application)
        return application.providers.all.map { provider in
            status(
                of: provider, switched: inForce[provider.name],
                activity: activity.map { $0[provider.name] ?? ProviderActivity(lastUse: nil, signIns: 0, signUps: 0) },
                in: application)
        }
    }

    /// - Throws: `AdministrationError.notFound`.
    package func status(of name: String, in application: Application) async throws -> ProviderStatus {
        guard let status = try await list(of: application).first(where: { $0.provider.name == name }) else {
            throw AdministrationError.notFound("provider")
        }
        return status
    }

    private func status(
        of provider: ConfiguredProvider, switched: ProviderSwitch?, activity: ProviderActivity?,
        in application: Application
    ) -> ProviderStatus {
        let upstream = upstreams.state(of: provider.name, application: application.name)
        return ProviderStatus(
            provider: provider, mode: switched?.mode ?? provider.declaration.mode, switched: switched,
            callbackURL: provider.flow == .redirect ? application.callbackURL(of: provider.name) : nil,
            health: upstream.map { $0.isUp ? .ok : .failing } ?? .unknown,
            lastSuccess: [upstream?.lastSuccess, activity?.lastUse].compactMap(\.self).max(), activity: activity)
    }

    private func activity(of application: Application) async throws -> [String: ProviderActivity]? {
        do {
            return try await store.transaction(within: Self.patience) { store in
                try await store.activity(application: application.id)
            }
        } catch AccountsError.unavailable {
            return nil
        }
    }
}
