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
                        ? "is not one of the application's redirectURIs; add it there"
                        : "is registered without PKCE, which the app always uses",
                    at: node.place(of: "redirectURI"))
            }
        }
        if let role = section.administrators?.role, let roles = application.roles, !roles.containsBytes(of: role) {
            reader.report(
                "is not one of the application's roles; add it there",
                at: node["administrators"]?.place(of: "role") ?? node.place)
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
        let isNamed = section.provider != nil
        let redirectURI = section.redirectURI ?? (provider == nil ? nil : onlyRedirectURI(at: node, isNeeded: isNamed))
        return section.value(
            provider: provider, redirectURI: redirectURI, providers: providers,
            pages: application.openid?.pages.name ?? name)
    }

    /// The one URI that requires PKCE, as the app always uses it; `nil` after a problem or a warning was reported.
    private func onlyRedirectURI(at node: ConfigurationNode, isNeeded: Bool) -> String? {
        let usable = application.redirectURIs.filter(\.requiresPKCE)
        guard let first = usable.first else {
            let need = "needs one of `redirectURIs` without `pkce: false`"
            if isNeeded {
                reader.report(need, at: node.place)
            } else {
                reader.warn("\(need) for its button", at: node.place)
            }
            return nil
        }
        guard usable.count == 1 else {
            reader.warn(
                "several redirectURIs require PKCE, and sign-ins that name none of them are refused; name one",
                at: node.place(of: "redirectURI"))
            return nil
        }
        return first.uri
    }

    /// Warns of members that Gatehouse determines itself, so that the file's values have no effect.
    private func warnOfOwn(_ names: Set<String>, at node: ConfigurationNode?) {
        for entry in node?.entries ?? [] where names.contains(entry.key) {
            reader.warn("is left out, because Gatehouse determines it", at: entry.value.place)
        }
    }
}
