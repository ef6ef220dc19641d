package import Accounts
package import ProviderKit

/// The section `admin` of the configuration, as far as the HTTP interface uses it.
package struct AdministrationSettings: Sendable {
    /// The application whose accounts administrators are.
    package let home: Application
    /// Where clients of the admin API may be; empty for anywhere.
    package let clients: [AddressRange]
    /// Whether the admin API has a listener of its own, so that no other one serves it.
    package let hasOwnListener: Bool
    /// The longest lifetime of a service key.
    package let longestKeyLifetime: Duration

    package init(home: Application, clients: [AddressRange], hasOwnListener: Bool, longestKeyLifetime: Duration) {
        (self.home, self.clients, self.hasOwnListener) = (home, clients, hasOwnListener)
        self.longestKeyLifetime = longestKeyLifetime
    }

    /// The same, with providers of the administrators' application in other modes.
    func switching(_ modes: [String: ProviderMode]) -> AdministrationSettings {
        AdministrationSettings(
            home: home.switching(modes), clients: clients, hasOwnListener: hasOwnListener,
            longestKeyLifetime: longestKeyLifetime)
    }

    func admits(_ address: String) -> Bool {
        clients.isEmpty || IPAddress(address).map { address in clients.contains { $0.contains(address) } } == true
    }
}

/// The listener at which a request has arrived.
package enum Door: Sendable {
    /// The one for apps, which also serves the admin API unless that has a listener of its own.
    case main
    /// The one of `server.admin`, which serves nothing else.
    case administration

    func isForAdministration(_ settings: AdministrationSettings) -> Bool {
        self == .administration || !settings.hasOwnListener
    }
}
