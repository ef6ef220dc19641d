internal import ProviderKit

/// How people read the names of clients.
extension OAuthClient {
    /// The name, or what `shownName(_:redirectingTo:)` returns for a client that has registered itself.
    package var shownName: String {
        origin == .registered ? Self.shownName(name, at: redirectURIs.map(\.destination)) : name
    }

    /// The name of a client that has registered itself, after the hosts that it sends people to: `rp.example (Photos)`.
    ///
    /// A client can call itself anything, but its redirect URIs decide who gets the codes. The hosts come first, so that
    /// a long name does not hide them, and a name that looks like a host does not replace them.
    package static func shownName(_ name: String?, redirectingTo uris: [String]) -> String {
        shownName(name, at: uris.compactMap { try? ClientRedirectURI($0).destination })
    }

    private static let mostHosts = 3

    private static func shownName(_ name: String?, at destinations: [String]) -> String {
        var hosts: [String] = []
        for host in destinations where !hosts.containsBytes(of: host) { hosts.append(host) }
        let others = hosts.count > mostHosts ? " +\(hosts.count - mostHosts)" : ""
        let shown = hosts.prefix(mostHosts).joined(separator: ", ") + others
        // A client without a name is named after its first host.
        guard let name, !hosts.containsBytes(of: name) else { return shown }
        return hosts.isEmpty ? name : "\(shown) (\(name))"
    }
}
