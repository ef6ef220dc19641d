package import Accounts
package import Administration
internal import OpenID
package import ProviderKit

/// The section `admin` of the configuration, as far as the HTTP interface uses it.
package struct AdministrationSettings: Sendable {
    /// The application that has the administrators' accounts.
    package var home: Application
    /// Where clients of the admin API may be; empty for anywhere.
    package let clients: [AddressRange]
    /// Whether the admin API has a listener of its own, so that no other one serves it.
    package let hasOwnListener: Bool
    /// The longest lifetime of a service key.
    package let longestKeyLifetime: Duration
    /// `nil` if there is no console.
    package let console: ConsoleSettings?

    package init(
        home: Application, clients: [AddressRange], hasOwnListener: Bool, longestKeyLifetime: Duration,
        console: ConsoleSettings?
    ) {
        (self.home, self.clients, self.hasOwnListener) = (home, clients, hasOwnListener)
        (self.longestKeyLifetime, self.console) = (longestKeyLifetime, console)
    }

    /// The same, with providers of the administrators' application in other modes.
    func switching(_ modes: [String: ProviderMode]) -> AdministrationSettings {
        var settings = self
        settings.home = home.switching(modes)
        return settings
    }

    /// Whether a client may know of the admin API; `nil` is one whose address a proxy did not state.
    func admits(_ address: String?) -> Bool {
        clients.isEmpty || clients.contains { range in address.map(range.contains) == true }
    }
}

/// The settings of the console.
package struct ConsoleSettings: Sendable {
    /// Where administrators reach it: `https://admin.example/console`.
    package let url: String
    package let rules: ConsoleSessionRules

    package init(url: String, rules: ConsoleSessionRules) { (self.url, self.rules) = (url, rules) }

    /// The names below `/console` that are no applications.
    package static let reservedNames = ["assets", "callback", "claim", "sign-in", "sign-out"]

    /// Where the pages of `admin.application` send the browser back to.
    package var callback: String { url + "/callback" }
    var isSecure: Bool { url.hasPrefix("https:") }
    /// The origin of the console's pages, as browsers send it.
    var origin: String { Issuer.origin(of: url) }
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
