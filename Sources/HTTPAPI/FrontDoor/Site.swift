package import Accounts
package import ProviderKit
internal import Synchronization

/// An application as it is reached from outside.
package struct ServedApplication: Sendable {
    package let application: Application
    /// Origins of its pages, as a browser spells them: `https://app.example`.
    package let origins: Set<String>
    /// Who learns of its people.
    package let recipients: [Recipient]

    package init(application: Application, origins: Set<String>, recipients: [Recipient] = []) {
        self.application = application
        self.origins = origins
        self.recipients = recipients
    }
}

/// What the configuration says about being reached.
package struct Site: Sendable {
    package var applications: [String: ServedApplication]
    /// Lower-case hosts, with a port where that matters, to application names.
    package var hosts: [String: String]
    package var defaultApplication: String
    /// The server's own origin, from its public URL.
    package var ownOrigin: String
    /// Plain HTTP is fine.
    package var isDevelopment: Bool
    /// This server itself ends TLS.
    package var endsTLS: Bool
    /// Whether forwarding headers of this peer address are to be believed.
    package var isTrustedProxy: @Sendable (IPAddress) -> Bool

    package init(
        applications: [String: ServedApplication], hosts: [String: String], defaultApplication: String,
        ownOrigin: String, isDevelopment: Bool, endsTLS: Bool,
        isTrustedProxy: @escaping @Sendable (IPAddress) -> Bool
    ) {
        self.applications = applications
        self.hosts = hosts
        self.defaultApplication = defaultApplication
        self.ownOrigin = ownOrigin
        self.isDevelopment = isDevelopment
        self.endsTLS = endsTLS
        self.isTrustedProxy = isTrustedProxy
    }
}

/// The site as it is now; a reload of the configuration puts a new one in its place.
package final class LiveSite: Sendable {
    private let site: Mutex<Site>

    package init(_ site: Site) {
        self.site = Mutex(site)
    }

    package var current: Site {
        site.withLock { $0 }
    }

    package func replace(with site: Site) {
        self.site.withLock { $0 = site }
    }
}
