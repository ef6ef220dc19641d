import Foundation
import ProviderKit
import Synchronization

@testable import Accounts

/// An application, its use cases and their store in memory.
struct TestApplication {
    let database = MemoryDatabase()
    let application: Application
    let tokens: SessionTokens
    let signIn: SignIn
    let codes: OneTimeCodes
    let linking: IdentityLinking
    let identities: Identities
    let merging: AccountMerging
    let deletion: AccountDeletion
    static let client = Client(device: "test", address: "192.0.2.1")

    /// Creates an application.
    ///
    /// `modes` has the mode of each provider by name; the default is `open`.
    init(modes: [String: ProviderMode] = [:], _ change: (inout ApplicationPolicy) -> Void = { _ in }) {
        var policy = ApplicationPolicy()
        change(&policy)
        let providers: [(String, any Provider)] = [
            ("trusting", TrustingProvider()), ("other", TrustingProvider()), ("email", MailedCodes()),
            ("phone", TextedCodes()), ("anonymous", TrustingProvider()),
        ]
        application = Application(
            id: 1, name: "demo", issuer: "https://demo.example", audience: "demo", policy: policy,
            providers: ProviderRegistry(
                installedKinds: ["trusting", "email", "phone"],
                configured: providers.map { name, provider in
                    ConfiguredProvider(
                        name: name, displayName: nil, mode: modes[name] ?? .open, type: type(of: provider),
                        provider: provider)
                }))
        let store = MemoryStore(database)
        tokens = SessionTokens(opaque: PlainTokens(), access: PlainAccessTokens(), time: database)
        signIn = SignIn(store: store, tokens: tokens)
        codes = OneTimeCodes(store: store, signIn: signIn, tokens: tokens, limits: NoLimits())
        let redemption = CodeRedemption(store: store, signIn: signIn, tokens: tokens)
        linking = IdentityLinking(store: store, signIn: signIn, tokens: tokens, codes: codes, redemption: redemption)
        identities = Identities(store: store)
        merging = AccountMerging(store: store, tokens: tokens)
        deletion = AccountDeletion(
            store: store, tokens: tokens,
            replacement: PasswordReplacement(signIn: signIn, tokens: tokens, quarantine: .zero))
    }

    var rows: MemoryRows { database.rows(of: application.id) }

    func provider(_ name: String) throws -> ConfiguredProvider {
        guard let provider = application.providers[name] else { throw AccountsError.unsupportedProvider(name) }
        return provider
    }
}

extension TestApplication {
    /// Signs in with evidence of the provider.
    func enter(_ evidence: VerifiedIdentity, _ name: String = "trusting") async throws -> Principal {
        principal(
            try await signIn.signIn(
                with: evidence, of: try provider(name), from: Self.client, in: application))
    }

    func guest() async throws -> Principal {
        try await enter(VerifiedIdentity(providerUid: UUID().text, isGuest: true), "anonymous")
    }

    func link(
        _ evidence: VerifiedIdentity, _ name: String = "trusting", onConflict: ConflictChoice = .keep,
        by principal: Principal
    ) async throws -> Principal {
        let signedIn = try await linking.link(
            .evidence(evidence), of: try provider(name), onConflict: onConflict, by: principal, from: Self.client)
        return self.principal(signedIn)
    }

    func principal(_ signedIn: SignedIn) -> Principal {
        let grant = signedIn.session.grant
        return Principal(
            application: application, uid: grant.uid, sessionID: grant.sessionID,
            authenticatedAt: Int(grant.authenticatedAt.timeIntervalSince1970), provider: grant.provider,
            providerUid: grant.providerUid)
    }

    func isLive(_ principal: Principal) -> Bool {
        rows.sessions[principal.sessionID].map { rows.isLive($0) } ?? false
    }

    /// Returns the error that a call throws, or `nil` if it succeeds.
    func refusal(_ call: () async throws -> some Any) async -> AccountsError? {
        do {
            _ = try await call()
            return nil
        } catch {
            return error as? AccountsError
        }
    }
}

/// Returns evidence with an address that the source controls.
func evidence(
    _ subject: String, _ address: String? = nil, isVerified: Bool = true, isAuthoritative: Bool = true
) -> VerifiedIdentity {
    let claim = address.flatMap { AddressClaim(email: $0, isVerified: isVerified, isAuthoritative: isAuthoritative) }
    return VerifiedIdentity(providerUid: subject, addresses: [claim].compactMap { $0 }, methods: ["test"])
}

private struct NoSettings: ProviderSettings {
    static let schema = SettingsSchema([])
}

/// A provider for evidence that tests pass to the use cases themselves.
private struct TrustingProvider: DirectProvider {
    static let kind = "trusting"
    static let displayName = "Trusting"

    init() {}
    init(settings: NoSettings, context: ProviderContext) {}

    func verify(_ credential: NoCredential, from origin: RequestOrigin) throws -> VerifiedIdentity {
        throw ProviderError.refused
    }
}

private struct MailedCodes: ChallengeProvider {
    static let kind = "email"
    static let displayName = "Email"
    static let targetField = "email"

    init() {}
    init(settings: NoSettings, context: ProviderContext) {}

    func target(typed: String) throws -> ChallengeTarget {
        guard let address = EmailAddress(typed) else { throw ProviderError.refused }
        return ChallengeTarget(providerUid: address.value, address: .email(address))
    }
}

private struct TextedCodes: ChallengeProvider {
    static let kind = "phone"
    static let displayName = "Phone"
    static let targetField = "phone"
    let idleLimit: Duration? = .seconds(90 * 86400)

    init() {}
    init(settings: NoSettings, context: ProviderContext) {}

    func target(typed: String) throws -> ChallengeTarget {
        guard let number = PhoneNumber(typed) else { throw ProviderError.refused }
        return ChallengeTarget(providerUid: number.value, address: .phone(number))
    }
}

/// Generates tokens whose hash equals their text.
struct PlainTokens: OpaqueTokens {
    func make() -> OpaqueToken { token(UUID().text) }
    func parse(_ text: String) -> OpaqueToken? { token(text) }
    func successor(of token: OpaqueToken) -> OpaqueToken { self.token(token.text + "+") }
    func derived(from token: OpaqueToken, for purpose: DerivedPurpose) -> OpaqueToken {
        self.token("\(token.text) \(purpose)")
    }
    func pseudonym(of value: String, purpose: String) -> [UInt8] { Array("\(purpose) \(value)".utf8) }

    private func token(_ text: String) -> OpaqueToken { OpaqueToken(text: text, hash: Array(text.utf8)) }
}

private struct PlainAccessTokens: AccessTokens {
    func sign(_ claims: AccessTokenClaims, for application: Application) -> String { claims.tokenID.text }
    func verify(_ token: String, for application: Application) throws -> AccessTokenClaims {
        throw AccountsError.invalidToken
    }
    func unverifiedAccount(of token: String) -> UUID? { nil }
}

private struct NoLimits: RateLimiting {
    func spend(_ limit: RateLimit, of subject: RateSubject, in application: Application) {}
    func spendHere(_ limit: RateLimit, of subject: RateSubject, in application: Application) {}
    func check(_ limit: RateLimit, of subject: RateSubject, in application: Application) {}
}
