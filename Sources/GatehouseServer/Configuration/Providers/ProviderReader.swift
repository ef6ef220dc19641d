import Accounts
import ProviderKit

/// Reads an application's `providers`: what every provider has in common here, its own settings by its schema.
struct ProviderReader {
    struct Providers {
        var registry: ProviderRegistry
        var anonymousRetention: Duration?
    }

    let application: String
    let applicationURL: String
    let audience: String
    let allowsPrivateHosts: Bool
    let installed: InstalledProviders

    func read(_ application: Table) -> Providers {
        let read = application.read(
            "providers", .named { name in .table { provider(name, $0) } }, default: [])
        let registry = ProviderRegistry(
            installedKinds: Set(installed.kinds.map { $0.kind }), configured: read.map(\.value.configured))
        var providers = Providers(registry: registry)
        providers.anonymousRetention = read.lazy.compactMap(\.value.retention).first
        return providers
    }

    private struct ReadProvider {
        let configured: ConfiguredProvider
        let retention: Duration?
    }

    private func provider(_ name: String, _ table: Table) -> ReadProvider? {
        let kind = table.optional("kind", .text)
        guard let type = installed.kind(kind ?? name) else {
            let kinds = installed.kinds.map { $0.kind }.joined(separator: ", ")
            table.report("no such kind is installed, only \(kinds)", at: "kind")
            // Which keys it would take is unknown, so none of them is wrong.
            _ = table.entries
            return nil
        }
        let mode = mode(table)
        let displayName = table.optional("displayName", .text)
        let exposedClaims = table.read("expose", .list(of: .exposedClaim), default: [])
        if !exposedClaims.isEmpty, !type.exposesClaims {
            table.report("identities of kind \(type.kind) have no claims to expose", at: "expose")
        }
        // The contract's `anonymous.retention` is understood here as well as beside `providers`.
        let retention = type.kind == "anonymous" ? table.optional("retention", .retention) : nil
        let settings = SettingsReader(table: table, isOff: mode == .off)
        let ports = installed.ports.ports(
            for: PortsOwner(application: self.application, provider: name), allowsPrivateHosts: allowsPrivateHosts)
        let context = ProviderContext(
            name: name, applicationURL: applicationURL, audience: audience, exposedClaims: exposedClaims, ports: ports)
        let configured = settings.configured(
            type, context: context, displayName: displayName, mode: mode, exposedClaims: exposedClaims)
        guard let configured else {
            return nil
        }
        return ReadProvider(configured: configured, retention: retention)
    }

    /// Whoever lists a provider wants it, so that without a word it is open.
    private func mode(_ table: Table) -> ProviderMode {
        let mode = table.optional("mode", .choice) as ProviderMode?
        let isEnabled = table.optional("enabled", .flag)
        if table.has("mode"), table.has("enabled") {
            table.report("says the same as mode; only one of them may stand here", at: "enabled")
        }
        return mode ?? (isEnabled == false ? .off : .open)
    }
}

extension Expectation<String> {
    fileprivate static var exposedClaim: Self {
        Self { located in
            guard let name = text.read(located) else { return nil }
            guard !ExposedClaims.reserved.contains(name) else {
                located.report("the server itself says \(name) in its tokens")
                return nil
            }
            return name
        }
    }
}
