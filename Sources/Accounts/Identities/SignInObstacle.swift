/// Why an identity cannot sign in at the moment.
///
/// The raw values are stable. An obstacle that is also a `LinkingRule` has the rule's raw value.
package enum SignInObstacle: String, Sendable, CaseIterable {
    case providerOff = "provider.off"
    case providerLinkOnly = "provider.link-only"
    /// The provider's kind has no way to sign in.
    case noSignIn = "provider.no-sign-in"
    /// A guest has nothing to prove again.
    case guest = "identity.guest"
    case quarantined = "identity.quarantined"
}
