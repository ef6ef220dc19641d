package import Accounts
internal import Foundation
package import Logging
package import Outbound
package import ProviderKit

/// The kinds of provider that a server was built with, and their access to the network.
package struct InstalledProviders: Sendable {
    package let kinds: [any Provider.Type]
    let ports: any ProviderPortsSource

    package init(_ kinds: [any Provider.Type], ports: any ProviderPortsSource = FixedPorts.none) {
        self.kinds = kinds
        self.ports = ports
    }

    func kind(_ name: String) -> (any Provider.Type)? { kinds.first { $0.kind == name } }
}

/// Creates the ports of each configured provider.
///
/// Fetched keys, connections and circuit breakers survive a reload of the configuration.
package protocol ProviderPortsSource: Sendable {
    func ports(for owner: PortsOwner, allowsPrivateHosts: Bool) -> ProviderPorts

    /// Ports for a provider that is not configured; nothing of them is kept.
    func candidatePorts(allowsPrivateHosts: Bool) -> ProviderPorts

    /// Calls services on behalf of administrators.
    func probe(allowsPrivateHosts: Bool) -> any ServiceProbing

    /// What the providers have found wrong with their services.
    var findings: FindingLog { get }

    /// The health of the services behind the providers.
    var statistics: [UpstreamStatistics] { get }

    /// Logs failures of outbound calls to this logger from now on.
    func report(to logger: Logger)

    /// Ends running calls. Later calls fail.
    func shutdown() async
}

/// The provider that ports belong to.
package struct PortsOwner: Sendable, Hashable {
    package let application: String
    /// The provider's configured name.
    package let provider: String

    /// The keys of clients that have registered themselves, whose addresses strangers have chosen.
    package static let registeredClients = PortsOwner(application: "", provider: "openid-registered")
}

/// A source that returns the same ports for every provider, for tests and for commands that only read the
/// configuration.
package struct FixedPorts: ProviderPortsSource {
    private let ports: ProviderPorts
    package let findings = FindingLog()

    package init(_ ports: ProviderPorts) { self.ports = ports }

    /// Ports without a network: every call fails.
    package static let none = FixedPorts(
        ProviderPorts(http: NoNetwork(), tokens: NoNetwork(), signer: NoNetwork(), now: { Date() }))

    package func ports(for owner: PortsOwner, allowsPrivateHosts: Bool) -> ProviderPorts { ports }
    package func candidatePorts(allowsPrivateHosts: Bool) -> ProviderPorts { ports }
    package func probe(allowsPrivateHosts: Bool) -> any ServiceProbing { NoService() }
    package var statistics: [UpstreamStatistics] { [] }
    package func report(to logger: Logger) {}
    package func shutdown() {}
}

private struct NoNetwork: HTTPFetching, TokenVerifying, TokenSigning {
    func fetch(_ request: FetchRequest) throws -> FetchResponse { throw ProviderError.unavailable }
    func verify(_ token: String, by rules: TokenRules) throws -> TokenClaims { throw ProviderError.unavailable }
    func check(_ keys: TokenKeys) {}
    func sign(_ claims: [String: JSONValue], key: String, keyID: String) throws -> String {
        throw ProviderError.unavailable
    }
}

private struct NoService: ServiceProbing {
    func fetch(_ request: FetchRequest) throws(ProviderFinding) -> FetchResponse { throw .upstreamUnreachable }
    func resolve(_ url: String) throws(ProviderFinding) { throw .upstreamUnreachable }
}
