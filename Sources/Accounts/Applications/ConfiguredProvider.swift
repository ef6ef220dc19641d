package import ProviderKit

/// The operations for which an application allows a provider.
package enum ProviderMode: String, Sendable, SentChoice {
    /// Sign-up, sign-in and linking.
    case open
    /// No sign-up.
    case existing
    /// Only linking to an account that the user is signed in to with another provider.
    case linkOnly
    case off
}

/// A provider as one application has configured it.
package struct ConfiguredProvider: Sendable {
    /// The `provider` value of this provider's identities.
    package let name: String
    package let kind, displayName: String
    package let flow: ProviderFlow
    /// The mode in force: that of the configuration, unless an administrator has switched it.
    package private(set) var mode: ProviderMode
    /// Where the configuration declares the provider, and what it says there.
    package let declaration: ProviderDeclaration
    /// The profile claims that `auth` and access tokens contain, the most important first.
    package let exposedClaims: [String]
    /// The URLs of the provider's service that the configuration contains.
    package let services: [String]
    let type: any Provider.Type
    private let made: (any Provider)?

    package init(
        name: String, displayName: String?, mode: ProviderMode, exposedClaims: [String] = [], services: [String] = [],
        type: any Provider.Type, provider: (any Provider)? = nil, declaration: ProviderDeclaration? = nil
    ) {
        (self.name, self.mode, self.type, made) = (name, mode, type, provider)
        (self.exposedClaims, self.services) = (exposedClaims, services)
        self.declaration = declaration ?? ProviderDeclaration(mode: mode)
        self.displayName = displayName ?? type.displayName
        (kind, flow) = (type.kind, type.flow)
    }

    /// `nil` only if the mode is `off`, since required settings may be missing.
    package var provider: (any Provider)? { mode == .off ? nil : made }

    /// Whether the configuration has what the provider needs to work; it may lack settings if its own mode is `off`.
    package var isReady: Bool { made != nil }

    /// The same provider in another mode.
    package func switched(to mode: ProviderMode) -> ConfiguredProvider {
        var switched = self
        switched.mode = mode
        return switched
    }

    /// The provider as a type with a capability, such as `any RedirectProvider`.
    /// - Throws: `AccountsError.unsupportedProvider` if the provider lacks the capability.
    package func capability<Capability>(_ type: Capability.Type = Capability.self) throws(AccountsError) -> Capability {
        guard let provider = provider as? Capability else { throw .unsupportedProvider(name) }
        return provider
    }

    var hasPasswords: Bool { type is any PasswordProvider.Type }

    /// Whether the provider's identities are addresses, which a person proves with a code or token sent there.
    package var provesAddress: Bool { hasPasswords || type is any ChallengeProvider.Type }

    /// The kind of the addresses that the provider sends codes to; `nil` if it sends none.
    package var addressKind: Address.Kind? {
        (provider as? any ChallengeProvider).flatMap { Address.Kind(rawValue: Swift.type(of: $0).targetField) }
    }

    /// Whether the provider recognises the person by what the network has added to a request.
    package func recognises(_ origin: RequestOrigin) -> Bool {
        (try? (provider as? any GatewayProvider)?.evidence(in: origin)) != nil
    }

    /// Whether people sign in with the provider's identities in the present mode.
    var admitsSignIn: Bool { (mode == .open || mode == .existing) && offersSignIn }

    /// `SignInWays` has the same rule for statements that count accounts.
    package func canSignIn(with identity: Identity) -> Bool { obstacle(to: identity) == nil }

    /// Why the provider's identity cannot sign in; `nil` if it can.
    ///
    /// An identity that is an address signs in even if it shows the address as unverified, because another account owns
    /// it: the code or the password proves the identity itself.
    package func obstacle(to identity: Identity) -> SignInObstacle? {
        switch mode {
        case .open, .existing: break
        case .linkOnly: return .providerLinkOnly
        case .off: return .providerOff
        }
        if identity.isGuest { return .guest }
        guard offersSignIn else { return .noSignIn }
        return identity.isQuarantined ? .quarantined : nil
    }

    /// The last path component of the route of the provider's kind, if that kind has its own route.
    package var directRoute: String? { (type as? any DirectProvider.Type)?.route }

    var offersSignIn: Bool {
        hasPasswords || type is any DirectProvider.Type || type is any RedirectProvider.Type
            || type is any NativeTokenProvider.Type || type is any ChallengeProvider.Type
    }
}
