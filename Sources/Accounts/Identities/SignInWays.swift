internal import ProviderKit

/// The ways into the accounts of an application, for statements that decide for many accounts at once.
///
/// It has the rules of `ProviderRegistry.canSignIn(with:)`, which `LAST_USABLE_IDENTITY` follows, and of codes and
/// password resets, which also open accounts.
package struct SignInWays: Sendable, Equatable {
    /// Providers whose identities sign in.
    package var identities: [String] = []
    /// Among these, those that send codes to phone numbers, which a number that was idle for too long does not receive.
    package var numbers: [String] = []
    /// Providers that sign in to the account that owns an e-mail address, by a code or after a password reset.
    package var toEmail: [String] = []
    /// Providers that sign in to the account that owns a phone number, by a code.
    package var toPhone: [String] = []

    package init() {}

    /// The ways that the providers of a registry offer.
    package init(of registry: ProviderRegistry, joining automatic: ApplicationPolicy.AutomaticLinking) {
        identities = registry.all.filter(\.admitsSignIn).map(\.name)
        numbers = registry.all.filter { $0.codeKind == .phone }.map(\.name)
        // Otherwise a code or a reset opens only the account that has the identity.
        guard automatic == .verified else { return }
        toPhone = [registry.coding(for: .phone)].compactMap(\.self)
        toEmail = [registry.coding(for: .email)].compactMap(\.self)
        if let reset = registry.resetting, !toEmail.contains(reset) { toEmail.append(reset) }
    }

    /// The kinds of addresses that only `self`, and not `other`, opens accounts by.
    package func addressKinds(lostIn other: SignInWays) -> [String] {
        (!toEmail.isEmpty && other.toEmail.isEmpty ? [Address.Kind.email.rawValue] : [])
            + (!toPhone.isEmpty && other.toPhone.isEmpty ? [Address.Kind.phone.rawValue] : [])
    }
}

extension ProviderRegistry {
    /// The provider that signs people in by codes to addresses of the kind, as `challengeProvider(for:)` chooses it.
    ///
    /// It goes by the provider's type, because the settings of one that is off may be missing.
    fileprivate func coding(for kind: Address.Kind) -> String? {
        all.first { $0.admitsSignIn && $0.codeKind == kind }?.name
    }

    /// The provider whose passwords can be reset, as `passwordProvider()` chooses it.
    fileprivate var resetting: String? {
        guard let provider = all.first(where: { $0.hasPasswords && $0.mode != .off }), provider.admitsSignIn else {
            return nil
        }
        return provider.name
    }
}

extension ConfiguredProvider {
    fileprivate var codeKind: Address.Kind? {
        (type as? any ChallengeProvider.Type).flatMap { Address.Kind(rawValue: $0.targetField) }
    }
}
