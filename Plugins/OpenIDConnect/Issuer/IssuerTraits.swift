internal import ProviderKit

/// The differences of a known issuer from the standard, and the addresses for which the issuer is an authority.
///
/// Traits depend on the issuer, not on the configured kind: `kind: oidc` with Google's issuer has Google's traits.
struct IssuerTraits: Sendable {
    var authority = EmailAuthority.word
    /// Other names of the issuer in tokens or in its document.
    var aliases: [String] = []
    var nonce = NonceRule.optional
    var usesProofKey = true
    /// The client authentication to use instead of that in the discovery document.
    var authentication: ClientAuthentication?
    /// The `claims` parameter for issuers that need one (OpenID Connect Core, 5.5).
    var claimsRequest: String?

    static func of(issuer: String) -> IssuerTraits {
        let host = issuer.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }.lowercased()
        return known[host] ?? IssuerTraits()
    }

    private static let microsoft = IssuerTraits(authority: .microsoft)

    private static let known: [String: IssuerTraits] = [
        "accounts.google.com": IssuerTraits(authority: .google, aliases: ["accounts.google.com"]),
        "login.microsoftonline.com": microsoft,
        "login.microsoftonline.us": microsoft,
        "login.partner.microsoftonline.cn": microsoft,
        "login.windows.net": microsoft,
        "sts.windows.net": microsoft,
        // LinkedIn's ID tokens have no nonce, and its token endpoint refuses a code verifier.
        "www.linkedin.com": IssuerTraits(
            aliases: ["https://www.linkedin.com"], nonce: .off, usesProofKey: false, authentication: .post),
        "id.twitch.tv": IssuerTraits(
            authentication: .post,
            claimsRequest:
                #"{"id_token":{"email":null,"email_verified":null,"picture":null,"preferred_username":null}}"#),
        // The document is on a different host than its issuer.
        "api.orange.com": IssuerTraits(aliases: ["https://openid.orange.fr", "https://openid.orange.fr/"]),
    ]

    /// The issuers that the discovery document may name.
    ///
    /// Microsoft's documents for several tenants contain a template as issuer, or the tenant of all private accounts.
    func issuers(of issuer: String) -> [String] {
        guard authority == .microsoft else { return [issuer] + aliases }
        let tenants = ["common": "{tenantid}", "organizations": "{tenantid}", "consumers": Self.privateAccounts]
        return [issuer] + tenants.map { issuer.replacing("/\($0)/", with: "/\($1)/") }
    }

    private static let privateAccounts = "9188040d-6c67-4c5b-b112-36a304b66dad"
}
