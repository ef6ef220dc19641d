internal import Foundation
package import Logging
package import Outbound
package import ProviderKit

/// For a configuration that is only looked at: nobody can be reached.
package struct NoPorts: ProviderPortsSource {
    package init() {}

    package func ports(for owner: PortsOwner, allowsPrivateHosts: Bool) -> ProviderPorts {
        ProviderPorts(http: NoNetwork(), tokens: NoNetwork(), signer: NoNetwork(), now: { Date() })
    }

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
