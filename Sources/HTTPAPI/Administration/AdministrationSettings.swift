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

    /// Whether a client may know of the admin API; `nil` is one whose address a proxy did not state.
    func admits(_ address: String?) -> Bool {
        clients.isEmpty || clients.contains { range in address.map(range.contains) == true }
    }
}

/// The listener at which a request has arrived.
package enum Listener: Sendable, Equatable {
    /// The one for apps, which also serves the admin API unless that has a listener of its own.
    case main
    /// The one of `server.admin`, which serves nothing else.
    case administration(endsTLS: Bool)

    func servesAdministration(_ settings: AdministrationSettings) -> Bool { self != .main || !settings.hasOwnListener }

    /// Whether this server terminates TLS itself at the listener.
    func endsTLS(in site: Site) -> Bool {
        switch self {
        case .main: site.endsTLS
        case .administration(let endsTLS): endsTLS
        }
    }
}
