import Accounts
import ProviderKit

/// Reads `applications`.
///
/// What they share is known by then: where the server is reached, and what stands at the top of the file as a default
/// for all of them.
struct ApplicationReader {
    /// What an application may leave out.
    struct Defaults {
        var gracePeriod: Duration = ApplicationPolicy().deletionGracePeriod
        var erasure = Configuration.Erasure()
        var anonymousRetention: Duration = .seconds(30 * 86_400)
    }

    let publicURL: String
    let allowsPrivateHosts: Bool
    let defaultApplication: String?
    let defaults: Defaults
    let installed: InstalledProviders

    func read(_ located: Located) -> [Configuration.Application]? {
        let applications = Expectation.named { name in .table { application(name, $0) } }.read(located)
        guard let applications else { return nil }
        refuseSharedHosts(applications.map { ($0.name, $0.value.hosts) })
        return applications.map(\.value.application)
    }

    private func application(
        _ name: String, _ table: Table
    ) -> (application: Configuration.Application, hosts: [Placed<String>]) {
        let url = name == defaultApplication ? publicURL : "\(publicURL)/apps/\(name)"
        var defaults = defaults
        table.optional("deletion", .deletion(defaults)).map { defaults = $0 }
        table.optional("anonymous", .anonymous(defaults)).map { defaults = $0 }
        let hosts = table.read("hosts", .list(of: Expectation<String>.host.placed), default: [])
        let linking = table.read("linking", .linking, default: Linking())
        let audience = table.read("audience", .text, default: name)
        let providers = ProviderReader(
            application: name, applicationURL: url, audience: audience, allowsPrivateHosts: allowsPrivateHosts,
            installed: installed
        ).read(table)
        let application = Configuration.Application(
            name: name, hosts: hosts.map(\.value),
            audience: audience,
            origins: table.read("origins", .list(of: .origin), default: []),
            redirectURIs: table.read("redirectURIs", .list(of: .redirectURI), default: []),
            policy: policy(table, linking: linking, gracePeriod: defaults.gracePeriod),
            erasure: defaults.erasure,
            anonymousRetention: providers.anonymousRetention ?? defaults.anonymousRetention, url: url,
            providers: providers.registry)
        return (application, hosts)
    }

    private func policy(_ table: Table, linking: Linking, gracePeriod: Duration) -> ApplicationPolicy {
        var policy = ApplicationPolicy()
        policy.tokens = table.read("tokens", .tokens, default: policy.tokens)
        policy.recentAuthentication = table.read(
            "recentAuthentication", .duration(.zero ... .configuredMaximum), default: policy.recentAuthentication)
        policy.revealExistingIdentities = table.read(
            "revealExistingIdentities", .flag, default: policy.revealExistingIdentities)
        policy.automaticLinking = linking.automatic
        policy.undoWindow = linking.undoWindow
        policy.deletionGracePeriod = gracePeriod
        return policy
    }

    private func refuseSharedHosts(_ applications: [(name: String, hosts: [Placed<String>])]) {
        var owners: [String: String] = [:]
        for (name, hosts) in applications {
            for host in hosts {
                guard let owner = owners.updateValue(name, forKey: host.value) else { continue }
                host.located.report("the application \(owner) already lists this host")
            }
        }
    }
}
