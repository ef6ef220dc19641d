internal import Accounts
internal import HTTPAPI
internal import OpenID

/// Signs logout tokens by the current configuration.
struct SiteLogoutTokens: LogoutTokens {
    let site: LiveSite
    let issuing: LogoutTokenIssuing

    func logoutToken(for delivery: TakenDelivery) async throws -> (uri: String, token: String)? {
        guard let issuer = site.current.applications[delivery.applicationName]?.openID else { return nil }
        return try await issuing.token(for: delivery, at: issuer)
    }
}
