internal import Accounts
internal import HTTPAPI
internal import OpenID
internal import ProviderKit

extension ImmichSection {
    /// The settings of the dialect for an application that opens `provider`; `pages` is what its own pages are called.
    func value(
        provider: String?, redirectURI: String?, providers: ProviderRegistry, pages: String
    ) -> ImmichSettings {
        var settings = ImmichSettings()
        settings.provider = provider
        settings.providerName =
            settings.provider.map { $0 == OwnClient.hostedProvider ? pages : providers.displayName(of: $0) } ?? ""
        settings.redirectURI = redirectURI
        settings.version = version.flatMap { ImmichSettings.Version($0) }
        settings.offersPasswords = passwords
        settings.administratorRole = administrators?.role
        settings.loginPageMessage = loginPageMessage ?? ""
        if let session { settings.renewal = session.renewal }
        settings.config = config.members.filter { !ImmichSettings.ownConfig.contains($0.key) }
        settings.features = features.members.filter { !ImmichSettings.ownFeatures.contains($0.key) }
        return settings
    }
}
