internal import Foundation
package import Logging
package import Outbound
package import ProviderKit

/// The same ways out for every provider: a test's own, or none.
package struct FixedPorts: ProviderPortsSource {
    private let ports: ProviderPorts

    package init(_ ports: ProviderPorts) {
        self.ports = ports
    }

    /// For a configuration that is only looked at: nobody can be reached.
    package static let none = FixedPorts(
        ProviderPorts(http: NoNetwork(), tokens: NoNetwork(), signer: NoNetwork(), now: { Date() }))

    package func ports(for owner: PortsOwner, allowsPrivateHosts: Bool) -> ProviderPorts { ports }

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
