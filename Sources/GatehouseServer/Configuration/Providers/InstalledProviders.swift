package import Logging
package import Outbound
package import ProviderKit

/// The kinds of provider that a server was built with, and what they reach the world through.
package struct InstalledProviders: Sendable {
    package let kinds: [any Provider.Type]
    let ports: any ProviderPortsSource

    package init(_ kinds: [any Provider.Type], ports: any ProviderPortsSource = FixedPorts.none) {
        self.kinds = kinds
        self.ports = ports
    }

    func kind(_ name: String) -> (any Provider.Type)? {
        kinds.first { $0.kind == name }
    }
}

/// Makes the ways out of each configured provider.
///
/// What it keeps of the outside (keys, connections, who is down) survives a reload of the configuration.
package protocol ProviderPortsSource: Sendable {
    func ports(for owner: PortsOwner, allowsPrivateHosts: Bool) -> ProviderPorts

    /// How the services behind the providers do.
    var statistics: [UpstreamStatistics] { get }

    /// What goes wrong outside is logged there from now on.
    func report(to logger: Logger)

    /// Ends what is under way; nobody can be reached afterwards.
    func shutdown() async
}

/// Whose ports they are.
package struct PortsOwner: Sendable, Hashable {
    package let application: String
    /// The provider's configured name.
    package let provider: String

    package init(application: String, provider: String) {
        self.application = application
        self.provider = provider
    }
}
