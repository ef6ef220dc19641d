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
    package let providers: ProviderRegistry

    package init(
        id: Int32, name: String, issuer: String, audience: String, policy: ApplicationPolicy,
        providers: ProviderRegistry
    ) {
        self.id = id
        self.name = name
        self.issuer = issuer
        self.audience = audience
        self.policy = policy
        self.providers = providers
    }
}
