internal import ProviderKit

/// A tenant: accounts, identities, sessions and settings never cross from one to another.
package struct Application: Sendable {
    /// The first column of every key.
    package let id: Int32
    package let name: String
    /// `iss` of its access tokens.
    package let issuer: String
    package let audience: String
    package let policy: ApplicationPolicy
    package let redirectURIs: [RedirectURI]
    package let providers: ProviderRegistry

    package init(
        id: Int32, name: String, issuer: String, audience: String, policy: ApplicationPolicy,
        redirectURIs: [RedirectURI] = [], providers: ProviderRegistry
    ) {
        self.id = id
        self.name = name
        self.issuer = issuer
        self.audience = audience
        self.policy = policy
        self.redirectURIs = redirectURIs
        self.providers = providers
    }

    /// Where a provider sends browsers back to; registered with it, and so fixed for ever.
    package func callbackURL(of provider: String) -> String {
        "\(issuer)/api/v1/auth/oauth/\(provider)/callback"
    }
}
