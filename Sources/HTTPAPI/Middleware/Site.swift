package import Accounts
internal import NIOCore
package import ProviderKit
internal import Synchronization

/// An application as it is reached from outside.
///
/// A class, as `Site` is: every request refers to both several times over.
package final class ServedApplication: Sendable {
    package let application: Application
    /// Origins of its pages, as a browser spells them: `https://app.example`.
    package let origins: Set<String>
    /// Who learns of its people.
    package let recipients: [Recipient]
    /// Its answer to `GET /auth/providers`, written once.
    let providerList: ByteBuffer

    package init(application: Application, origins: Set<String>, recipients: [Recipient] = []) {
        self.application = application
        self.origins = origins
        self.recipients = recipients
        providerList = ByteBuffer(bytes: ProviderList(application.providers).json)
    }
}

/// What the configuration says about being reached.
package final class Site: Sendable {
    package let applications: [String: ServedApplication]
    /// Lower-case hosts, with a port where that matters, to application names.
    package let hosts: [String: String]
    package let defaultApplication: String
    /// The server's own origin, from its public URL.
    package let ownOrigin: String
    /// Plain HTTP is fine.
    package let isDevelopment: Bool
    /// This server itself ends TLS.
    package let endsTLS: Bool
    /// Whether forwarding headers of this peer address are to be believed.
    package let isTrustedProxy: @Sendable (IPAddress) -> Bool

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
