package import Accounts
internal import Foundation
internal import NIOCore
package import OpenID
package import ProviderKit
internal import Synchronization

/// An application with its settings for HTTP.
///
/// This type and `Site` are classes, because every request copies its references to both several times.
package final class ServedApplication: Sendable {
    package let application: Application
    /// The origins of the application's pages and of its own address, in the form that browsers send:
    /// `https://app.example`.
    package let origins: Set<String>
    /// The recipients of personal data, which exports list.
    package let recipients: [Recipient]
    /// The issuer at the application's own URL; `nil` if the application is not an OpenID provider.
    package let openID: Issuer?
    package let dialects: DialectSettings
    let hasDialects: Bool
    /// All issuers, with their metadata, which is encoded once.
    private let issuers: [Issuer.Place: (issuer: Issuer, metadata: [UInt8])]
    private let openIDSettings: OpenIDSettings?
    /// The body of the response to `GET /auth/providers`, encoded once.
    let providerList: ByteBuffer

    package init(
        application: Application, origins: Set<String>, recipients: [Recipient] = [], openID: OpenIDSettings? = nil,
        dialects: DialectSettings = DialectSettings()
    ) {
        self.application = application
        self.origins = origins.union([Issuer.origin(of: application.issuer)])
        self.recipients = recipients
        self.dialects = dialects
        openIDSettings = openID
        hasDialects = dialects != DialectSettings()
        let issuers = openID.map { settings in
            settings.places.map { Issuer(application: application, settings: settings, at: $0) }
        }
        self.issuers = Dictionary(uniqueKeysWithValues: (issuers ?? []).map { ($0.place, ($0, $0.metadata)) })
        self.openID = self.issuers[.plain]?.issuer
        providerList = ByteBuffer(
            bytes: ProviderList(of: application, pages: openID.map { $0.pages.name ?? application.name }).json)
    }

    /// The same with providers in other modes.
    func switching(_ modes: [String: ProviderMode]) -> ServedApplication {
        ServedApplication(
            application: application.switching(modes), origins: origins, recipients: recipients,
            openID: openIDSettings, dialects: dialects)
    }

    /// The issuer at a place; `nil` if the application has none there.
    func issuer(at place: Issuer.Place) -> Issuer? { issuers[place]?.issuer }

    /// The metadata of the issuer at a place; empty if there is none.
    func metadata(at place: Issuer.Place) -> [UInt8] { issuers[place]?.metadata ?? [] }
}

/// The configuration of the HTTP interface.
package final class Site: Sendable {
    package let applications: [String: ServedApplication]
    /// The names of applications by lower-case host; a host with a port matches only that port.
    package let hosts: [String: String]
    package let defaultApplication: String
    /// The server's URL, without a trailing slash.
    let publicURL: String
    /// The host of that URL in lower case, without and with its port.
    let publicHosts: Set<String>
    /// The path of that URL, which a proxy removes before the server gets the request; empty if there is none.
    let publicPath: String
    /// The server's own origin.
    package let ownOrigin: String
    /// Whether plain HTTP is allowed.
    package let isDevelopment: Bool
    /// Whether this server terminates TLS itself at its main listener.
    package let endsTLS: Bool
    /// Whether forwarding header fields of this peer are trusted.
    package let isTrustedProxy: @Sendable (IPAddress) -> Bool
    /// `nil` if there is no admin API.
    package let administration: AdministrationSettings?

    package init(
        applications: [String: ServedApplication], hosts: [String: String], defaultApplication: String,
        publicURL: String, isDevelopment: Bool, endsTLS: Bool,
        isTrustedProxy: @escaping @Sendable (IPAddress) -> Bool, administration: AdministrationSettings? = nil
    ) {
        self.applications = applications
        self.hosts = hosts
        self.defaultApplication = defaultApplication
        self.publicURL = publicURL
        let components = URLComponents(string: publicURL)
        let host = components?.host?.lowercased() ?? ""
        publicHosts = [host, components?.port.map { "\(host):\($0)" } ?? host]
        publicPath = components?.percentEncodedPath ?? ""
        ownOrigin = Issuer.origin(of: publicURL)
        self.isDevelopment = isDevelopment
        self.endsTLS = endsTLS
        self.isTrustedProxy = isTrustedProxy
        self.administration = administration
    }
}

/// The modes that administrators have given providers, by name and application.
package typealias SwitchedModes = [Accounts.Application.ID: [String: ProviderMode]]

extension Site {
    /// The same site with providers in other modes.
    fileprivate func switching(_ modes: SwitchedModes) -> Site {
        guard !modes.isEmpty else { return self }
        return Site(
            applications: applications.mapValues { served in
                modes[served.application.id].map(served.switching) ?? served
            },
            hosts: hosts, defaultApplication: defaultApplication, publicURL: publicURL,
            isDevelopment: isDevelopment, endsTLS: endsTLS, isTrustedProxy: isTrustedProxy,
            administration: administration.map { settings in
                modes[settings.home.id].map(settings.switching) ?? settings
            })
    }
}

/// The current site: the configuration, which a reload replaces, with the modes of providers that are switched.
package final class LiveSite: Sendable {
    private let site: Mutex<Site>
    /// What `site` is made of; held while a new one is made.
    private let parts: Mutex<(configured: Site, modes: SwitchedModes)>

    package init(_ site: Site) {
        self.site = Mutex(site)
        parts = Mutex((site, [:]))
    }

    package var current: Site {
        site.withLock { $0 }
    }

    /// The site with the configuration's own modes.
    package var configured: Site {
        parts.withLock { $0.configured }
    }

    package func replace(with site: Site) {
        change { $0.configured = site }
    }

    /// Puts modes in place of those of the configuration.
    package func follow(_ modes: SwitchedModes) {
        change { $0.modes = modes }
    }

    private func change(_ change: (inout (configured: Site, modes: SwitchedModes)) -> Void) {
        parts.withLock { parts in
            change(&parts)
            let site = parts.configured.switching(parts.modes)
            self.site.withLock { $0 = site }
        }
    }
}
