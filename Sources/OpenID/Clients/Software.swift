package import ProviderKit

/// A mobile app whose installations register themselves, each as its own client.
package struct Software: Sendable, Equatable {
    /// The issuer whose signed statements about the software are accepted besides the configured ones.
    package struct StatementIssuer: Sendable, Equatable {
        package let issuer: String
        package let keys: TokenKeys
        package let algorithms: Set<TokenRules.Algorithm>

        package init(issuer: String, keys: TokenKeys, algorithms: Set<TokenRules.Algorithm>) {
            (self.issuer, self.keys, self.algorithms) = (issuer, keys, algorithms)
        }
    }

    /// The names, redirect URIs, scopes and lifetimes of each instance.
    package var template: OAuthClient
    package var version: String
    /// SHA-256 of each token with which an installation may register.
    package var initialTokens: [[UInt8]] = []
    /// SHA-256 of each statement that is accepted byte for byte.
    package var statements: [[UInt8]] = []
    package var statementIssuer: StatementIssuer?
    /// How long after its registration an instance must redeem its first code.
    package var firstLoginWithin: Duration = .seconds(3600)
    /// How long an instance may stay unused.
    package var idle: Duration = .seconds(365 * 86400)

    package init(template: OAuthClient, version: String) { (self.template, self.version) = (template, version) }
}
