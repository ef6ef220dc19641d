package import Foundation
package import ProviderKit

/// The providers of one application, and the kinds that the server has installed.
package struct ProviderRegistry: Sendable {
    private let installedKinds: Set<String>
    /// The configured providers in the order of the configuration.
    package let all: [ConfiguredProvider]

    package init(installedKinds: Set<String>, configured: [ConfiguredProvider]) {
        (self.installedKinds, all) = (installedKinds, configured)
    }

    /// The provider of that name, in any mode.
    package subscript(name: String) -> ConfiguredProvider? { all.first { $0.name.hasSameBytes(as: name) } }

    /// The same providers and further ones.
    package func adding(_ others: [ConfiguredProvider]) -> ProviderRegistry {
        ProviderRegistry(installedKinds: installedKinds, configured: all + others)
    }

    /// The same providers, of which those named have other modes.
    package func switching(_ modes: [String: ProviderMode]) -> ProviderRegistry {
        ProviderRegistry(
            installedKinds: installedKinds,
            configured: all.map { provider in modes[provider.name].map(provider.switched(to:)) ?? provider })
    }

    /// The providers that a person can sign in with, in the order of the configuration.
    package var enabled: [ConfiguredProvider] { all.filter { $0.mode != .off && $0.offersSignIn } }

    /// The providers at whose own pages people sign in.
    package var redirecting: [ConfiguredProvider] {
        enabled.filter { $0.mode != .linkOnly && $0.provider is any RedirectProvider }
    }

    /// Whether people can sign in at pages: by a password, a code, a provider's own pages, or the network.
    package var signsInAtPages: Bool {
        enabled.contains { provider in
            provider.mode != .linkOnly
                && (provider.hasPasswords || provider.addressKind != nil || provider.provider is any RedirectProvider
                    || provider.provider is any GatewayProvider)
        }
    }

    /// The providers that recognise the person by what the network has added to a request.
    package func recognising(_ origin: RequestOrigin) -> [ConfiguredProvider] {
        enabled.filter { $0.mode != .linkOnly && $0.recognises(origin) }
    }

    /// The providers of which pages can link an identity: by a code, at their own pages, or by the network.
    package func linkable(in origin: RequestOrigin) -> [ConfiguredProvider] {
        all.filter { provider in
            provider.mode != .off
                && (provider.addressKind != nil || provider.provider is any RedirectProvider
                    || provider.recognises(origin))
        }
    }

    /// Enabled providers whose kind offers no way to sign in.
    package var idle: [ConfiguredProvider] { all.filter { $0.mode != .off && !$0.offersSignIn } }

    /// The provider of a kind; the name is required if several providers of the kind are configured.
    package func provider(ofKind kind: String, named name: String? = nil) throws(AccountsError) -> ConfiguredProvider {
        guard installedKinds.contains(kind) else { throw .unsupportedProvider(kind) }
        let candidates = all.filter { $0.kind == kind }
        if let name {
            guard let named = candidates.first(where: { $0.name.hasSameBytes(as: name) }) else {
                throw .unsupportedProvider(name)
            }
            return try usable(named)
        }
        guard let first = candidates.first else { throw .providerDisabled(.off(kind)) }
        guard candidates.count == 1 else { throw .missingParameter("provider") }
        return try usable(first)
    }

    /// The usable providers of a kind: the named one, or all.
    package func providers(ofKind kind: String, named name: String? = nil) throws(AccountsError) -> [ConfiguredProvider]
    {
        if let name { return [try provider(ofKind: kind, named: name)] }
        let usable = all.filter { $0.kind == kind && $0.mode != .off }
        return usable.isEmpty ? [try provider(ofKind: kind)] : usable
    }

    package func named(_ name: String) throws(AccountsError) -> ConfiguredProvider {
        guard let named = self[name] else { throw .unsupportedProvider(name) }
        return try usable(named)
    }

    /// The provider of that name as if its mode were `open`, for an administrator who tries it.
    ///
    /// A provider that is off in the configuration itself has no settings, so it lacks every capability.
    package func tried(_ name: String) throws(AccountsError) -> ConfiguredProvider {
        guard let named = self[name] else { throw .unsupportedProvider(name) }
        return named.switched(to: .open)
    }

    /// Requires a provider with redirect flows, even if it is off: a flow may have begun before, or be a trial.
    ///
    /// - Throws: `AccountsError.unsupportedProvider`.
    package func requireRedirecting(_ name: String) throws(AccountsError) {
        let _: any RedirectProvider = try tried(name).capability()
    }

    package func canSignIn(with identity: Identity) -> Bool { obstacle(to: identity) == nil }

    /// Why an identity cannot sign in; `nil` if it can.
    ///
    /// A provider that is no longer configured counts as off.
    package func obstacle(to identity: Identity) -> SignInObstacle? {
        guard let provider = self[identity.provider] else { return .providerOff }
        return provider.obstacle(to: identity)
    }

    /// Why identities of an account cannot sign in, by their ids; those that can are absent.
    ///
    /// A quarantine is ignored where none of the identities can sign in without it (`LinkingFacts`).
    package func obstacles(among identities: [Identity]) -> [UUID: SignInObstacle] {
        let ignoresQuarantine = !canSignIn(withAnyOf: identities)
        return identities.reduce(into: [:]) { obstacles, identity in
            let obstacle = obstacle(to: identity)
            obstacles[identity.id] = ignoresQuarantine && obstacle == .quarantined ? nil : obstacle
        }
    }

    package func canSignIn(withAnyOf identities: [Identity]) -> Bool { identities.contains(where: canSignIn(with:)) }

    /// Whether anybody can sign in to an account that has these identities only.
    ///
    /// A quarantine is ignored where none of the account's identities can sign in without it (`LinkingFacts`).
    package func canSignIn(withOnly identities: [Identity]) -> Bool {
        identities.contains { [nil, .quarantined].contains(obstacle(to: $0)) }
    }

    /// The display name of a provider, or its name if it is no longer configured.
    package func displayName(of name: String) -> String { self[name]?.displayName ?? name }

    /// Whether a code sent to an e-mail address that an account owns can sign in to the account.
    var provesEmail: Bool { challengeProvider(for: .email) != nil }

    /// How long after its last use a phone number still proves who its owner is; later it may have been reassigned.
    package var phoneIdleLimit: Duration {
        all.lazy.compactMap { ($0.provider as? any ChallengeProvider)?.idleLimit }.first ?? .seconds(365 * 86400)
    }

    /// The claims of an identity's profile that `auth` and access tokens contain.
    package func exposed(_ profile: [String: JSONValue], of name: String) -> [String: JSONValue] {
        guard !profile.isEmpty, let provider = self[name] else { return [:] }
        return ExposedClaims.chosen(provider.exposedClaims, from: profile)
    }

    /// The first provider that people sign in with by a code sent to an address of this kind.
    package func challengeProvider(for kind: Address.Kind) -> ConfiguredProvider? {
        all.first { provider in
            (provider.mode == .open || provider.mode == .existing) && provider.addressKind == kind
        }
    }

    /// The provider whose identities have passwords.
    package func passwordProvider() throws(AccountsError) -> (ConfiguredProvider, any PasswordProvider) {
        let candidates = all.filter(\.hasPasswords)
        guard let candidate = candidates.first(where: { $0.mode != .off }) ?? candidates.first else {
            throw .providerDisabled(.off("password"))
        }
        guard let provider = try usable(candidate).provider as? any PasswordProvider else {
            throw .providerDisabled(.off(candidate.name))
        }
        return (candidate, provider)
    }

    /// Whether people can sign in with a password.
    package var admitsPasswords: Bool { (try? passwordProvider())?.0.admitsSignIn == true }

    /// Whether the mailed link of a registration requires the registered password.
    package var linksNeedPassword: Bool {
        all.contains { ($0.provider as? any PasswordProvider)?.linksNeedPassword == true }
    }

    private func usable(_ provider: ConfiguredProvider) throws(AccountsError) -> ConfiguredProvider {
        guard provider.mode != .off else { throw .providerDisabled(.off(provider.name)) }
        return provider
    }
}

extension Refusal {
    static func off(_ provider: String) -> Refusal {
        let rule = LinkingRule.providerOff
        return Refusal(
            rule: rule.rawValue, reason: "\(provider) is not enabled for this application", remedies: rule.remedies)
    }
}
