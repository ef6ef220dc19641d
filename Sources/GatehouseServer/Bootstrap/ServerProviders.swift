internal import Accounts
internal import Administration
internal import Delivery
internal import Foundation
internal import Outbound
internal import ProviderKit

/// Looks at providers and their services for administrators.
struct ServerProviders: ProviderServices {
    let installed: InstalledProviders
    let delivery: CurrentDelivery
    let allowsPrivateHosts, allowsPrivateHostsOfCandidates: Bool

    var kinds: [ProviderKindDescription] { installed.kinds.map { $0.description } }

    func tools(
        forProvider name: String, isCandidate: Bool, in application: Accounts.Application
    ) -> DiagnosticTools {
        DiagnosticTools(
            service: installed.ports.probe(
                allowsPrivateHosts: isCandidate ? allowsPrivateHostsOfCandidates : allowsPrivateHosts),
            callbackURL: application.callbackURL(of: name), now: { Date() }
        ) { [delivery] in await delivery.email?.transport.probe() ?? .notConfigured }
    }

    func makeCandidate(
        _ settings: CandidateSettings, in application: Accounts.Application
    ) throws -> ProviderCandidate {
        try SettingsReader.candidate(
            settings, in: application, installed: installed,
            ports: installed.ports.candidatePorts(allowsPrivateHosts: allowsPrivateHostsOfCandidates))
    }

    func state(of owner: FindingLog.Owner) -> (isUp: Bool, lastSuccess: Date?)? {
        let statistics = installed.ports.statistics.first {
            $0.application == owner.application && $0.provider == owner.provider
        }
        // A service that was never called is neither up nor down.
        guard let statistics, statistics.successes + statistics.failures > 0 else { return nil }
        return (statistics.isUp, statistics.lastSuccess)
    }
}

extension Provider {
    fileprivate static var description: ProviderKindDescription {
        ProviderKindDescription(name: kind, displayName: displayName, flow: flow, settings: Settings.schema)
    }
}
