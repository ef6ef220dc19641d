internal import Accounts
internal import HTTPAPI
internal import ProviderKit

extension DialectChecks {
    func immich(_ section: ImmichSection) -> ImmichSettings? {
        guard let node = node["dialects"]?["immich"] else { return nil }
        if let uri = section.redirectURI {
            let registered = application.redirectURIs.first { $0.uri.hasSameBytes(as: uri) }
            if registered?.requiresPKCE != true {
                reader.report(
                    registered == nil
                        ? "is not one of the application's redirectURIs"
                        : "is registered without PKCE, which the app always uses",
                    at: node.place(of: "redirectURI"))
            }
        }
        if let role = section.administrators?.role, let roles = application.roles, !roles.containsBytes(of: role) {
            reader.report(
                "is none of the application's roles", at: node["administrators"]?.place(of: "role") ?? node.place)
        }
        warnOfOwn(ImmichSettings.ownConfig, at: node["config"])
        warnOfOwn(ImmichSettings.ownFeatures, at: node["features"])
        if let session = section.session { warnOfLongLifetime(session, at: node) }
        var provider: String?
        // Without a provider that has pages, the app only has no button.
        if section.provider != nil || !providers.redirecting.isEmpty {
            guard let name = self.provider(named: section.provider, at: node) else { return nil }
            provider = name
        }
        return section.value(provider: provider, providers: providers, pages: name)
    }

    /// Warns of members that the apps are told by Gatehouse, whatever the file says.
    private func warnOfOwn(_ names: Set<String>, at node: ConfigurationNode?) {
        for entry in node?.entries ?? [] where names.contains(entry.key) {
            reader.warn("is left out, because Gatehouse determines it", at: entry.value.place)
        }
    }
}
