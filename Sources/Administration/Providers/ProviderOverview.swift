package import Accounts
internal import ProviderKit

/// A provider as administrators see it.
package struct ProviderStatus: Sendable {
    package let provider: ConfiguredProvider
    /// The mode in force.
    package let mode: ProviderMode
    package let switched: ProviderSwitch?
    package let callbackURL: String?
    package let report: ProviderReport
}

/// The providers of an application: modes, switches and health.
package struct ProviderOverview: Sendable {
    let switches: ProviderSwitches
    let health: ProviderHealth

    package func list(of application: Application) async throws -> [ProviderStatus] {
        let inForce = try await switches.inForce(of: application)
        let reports = try await health.reports(of: application)
        return application.providers.all.map { provider in
            let switched = inForce[provider.name]
            return ProviderStatus(
                provider: provider, mode: switched?.mode ?? provider.declaration.mode, switched: switched,
                callbackURL: provider.flow == .redirect ? application.callbackURL(of: provider.name) : nil,
                report: reports[provider.name] ?? ProviderReport())
        }
    }

    /// - Throws: `AdministrationError.notFound`.
    package func status(of name: String, in application: Application) async throws -> ProviderStatus {
        guard let status = try await list(of: application).first(where: { $0.provider.name == name }) else {
            throw AdministrationError.notFound("provider")
        }
        return status
    }
}
