package import Accounts
internal import NIOCore
package import ProviderKit
internal import Synchronization

/// An application, and what serving it over HTTP needs.
///
/// This and `Site` are classes, because every request copies its references to both several times.
package final class ServedApplication: Sendable {
    package let application: Application
    /// Origins of its pages, as a browser writes them: `https://app.example`.
    package let origins: Set<String>
    /// Listed in exports of personal data.
    package let recipients: [Recipient]
    /// The response to `GET /auth/providers`, written once.
    let providerList: ByteBuffer

    package init(application: Application, origins: Set<String>, recipients: [Recipient] = []) {
        self.application = application
        self.origins = origins
        self.recipients = recipients
        providerList = ByteBuffer(bytes: ProviderList(application.providers).json)
    }
}

/// The configuration of the HTTP interface.
package final class Site: Sendable {
    package let applications: [String: ServedApplication]
    /// Names of applications by host: lower-case, and with a port if only that port is meant.
    package let hosts: [String: String]
    package let defaultApplication: String
    /// The server's own origin, from its public URL.
    package let ownOrigin: String
    /// Plain HTTP is allowed.
    package let isDevelopment: Bool
    /// This server terminates TLS itself.
    package let endsTLS: Bool
    /// Whether forwarding header fields of this peer are trusted.
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

/// The current site, which a reload of the configuration replaces.
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
