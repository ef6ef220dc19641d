internal import Accounts
internal import HTTPAPI
internal import OpenID
internal import ProviderKit

/// Checks the settings of an application's dialects against its providers and redirect URIs.
struct DialectChecks {
    /// The application's name.
    let name: String
    let application: ApplicationSettings
    let providers: ProviderRegistry
    /// The application's section of the file.
    let node: ConfigurationNode
    let reader: SettingsReader

    /// Browsers keep no cookie longer (RFC 6265bis, 5.6), so a longer session is probably a mistake.
    private static let longestUsual: Duration = .seconds(400 * 86_400)

    /// The settings of the dialects; those with a problem are left out.
    var settings: DialectSettings {
        let settings = DialectSettings(
            immich: application.dialects.immich.flatMap(immich),
            timeTracker: application.dialects.timetracker.flatMap(timeTracker))
        if let (one, other) = HTTPAPI.conflict(in: settings) {
            reader.report("\(one) and \(other) have a path in common", at: node.place(of: "dialects"))
        }
        return settings
    }

    private func timeTracker(_ section: TimeTrackerSection) -> TimeTrackerSettings? {
        guard let node = node["dialects"]?["timetracker"] else { return nil }
        checkRedirectURI(section, at: node)
        warnOfLongLifetime(section.session, at: node)
        guard let provider = provider(named: section.provider, at: node) else { return nil }
        return TimeTrackerSettings(
            provider: provider, redirectURI: section.redirectURI, renewal: section.session.renewal)
    }

    func warnOfLongLifetime(_ session: DialectSessionSection, at node: ConfigurationNode) {
        guard let lifetime = session.lifetime, lifetime > Self.longestUsual else { return }
        reader.warn(
            "is longer than 400 days; a stolen token works as long",
            at: node["session"]?.place(of: "lifetime") ?? node.place)
    }

    private func checkRedirectURI(_ section: TimeTrackerSection, at node: ConfigurationNode) {
        guard let uri = section.redirectURI else {
            if application.redirectURIs.allSatisfy(\.requiresPKCE) {
                reader.report("needs one of `redirectURIs` with `pkce: false`", at: node.place)
            }
            return
        }
        let place = node.place(of: "redirectURI")
        guard let registered = application.redirectURIs.first(where: { $0.uri.hasSameBytes(as: uri) }) else {
            return reader.report("is not one of the application's redirectURIs; add it there", at: place)
        }
        if registered.requiresPKCE {
            reader.report("is registered with PKCE, which the app cannot do; add `pkce: false`", at: place)
        }
    }

    /// The name of the provider at whose pages people sign in; `nil` after a problem was reported.
    func provider(named name: String?, at node: ConfigurationNode) -> String? {
        func refuse(_ reason: String) -> String? {
            reader.report(reason, at: node.place(of: "provider"))
            return nil
        }
        let usable = providers.redirecting.map(\.name)
        guard let name else {
            guard let first = usable.first else { return refuse("the application has no provider with pages") }
            if usable.count > 1 {
                reader.warn(
                    "several providers have pages, and \(first) is used; name one", at: node.place(of: "provider"))
            }
            return first
        }
        if name.hasSameBytes(as: OwnClient.hostedProvider) {
            return application.openid == nil ? refuse("the application has no pages without `openid`") : name
        }
        guard let provider = providers[name] else {
            // A provider with a problem is missing here, too.
            let path = self.node.place(of: "providers").key(name, line: nil).path
            return reader.hasReported(below: path) ? nil : refuse("the application has no such provider")
        }
        guard provider.mode != .off else { return refuse("this provider is off") }
        guard usable.contains(provider.name) else { return refuse("this provider has no pages to sign in at") }
        return provider.name
    }
}
