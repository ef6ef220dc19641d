public import ProviderKit

/// Signed tokens of an application's own legacy system.
///
/// The system signs a token about a person whom it knows; the app presents it here once. Which claim says what is
/// configurable, whose signature counts is not left open: keys and algorithms are named by the settings alone.
public struct CustomTokenProvider: DirectProvider {
    /// What an app presents.
    public struct Credential: Decodable, Sendable {
        /// Signed by the legacy system.
        public let token: String
    }

    /// From the token.
    public static let exposesClaims = true
    /// `custom-token`.
    public static let kind = "custom-token"
    /// What a button says, where the settings name nothing better.
    public static let displayName = "Existing account"
    /// `POST /auth/custom`.
    public static let route = "custom"

    private let rules: TokenRules
    private let claims: ClaimMap
    private let exposedClaims: [String]
    private let trustsEmail: Bool
    private let tokens: any TokenVerifying

    /// - Throws: `SettingsError` where the keys are none, several or unreadable, and for a symmetric algorithm.
    public init(settings: Settings, context: ProviderContext) throws {
        let keys = try settings.keys()
        do {
            try context.ports.tokens.check(keys.value)
        } catch let error as UnreadableKeys {
            throw SettingsError(setting: keys.setting, reason: "the keys \(error.reason)")
        }
        rules = TokenRules(
            keys: keys.value, algorithms: try settings.allowedAlgorithms(), issuers: [settings.issuer],
            audiences: [settings.audience], maximumAge: try settings.age())
        claims = try ClaimMap(settings.claims ?? [:], over: ClaimMap.standard)
        exposedClaims = context.exposedClaims
        trustsEmail = settings.trustEmail == true
        tokens = context.ports.tokens
    }

    /// Checks the token; it works once, so that one without a `jti` never does.
    public func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity {
        let token = try await tokens.verify(credential.token, by: rules)
        let document = JSONValue.object(token.all)
        guard token.issuedAt != nil, let singleUse = token.singleUse(by: "jti"),
            let subject = claims.subject(in: document), (1...255).contains(subject.utf8.count)
        else { throw ProviderError.refused }
        return VerifiedIdentity(
            providerUid: subject, addresses: [email(in: document), phone(in: document)].compactMap(\.self),
            displayName: PersonName.joined(claims.value(.displayName, in: document).string),
            profile: document.claims(exposedClaims)
                .merging(claims.further.mapValues { document[claim: $0] }.filter { !$1.isNull }) { $1 },
            methods: ["fed"], authenticatedAt: token.provenAt, singleUse: singleUse)
    }

    /// Verified by truth itself: a text `"true"` is not ours to guess.
    private func email(in document: JSONValue) -> AddressClaim? {
        let isVerified = claims.value(.emailVerified, in: document) == true
        return claims.value(.email, in: document).string.flatMap {
            AddressClaim(email: $0, isVerified: isVerified, isAuthoritative: isVerified && trustsEmail)
        }
    }

    /// Never authoritative: `trustEmail` is about e-mail, and a number changes hands too easily.
    private func phone(in document: JSONValue) -> AddressClaim? {
        guard let number = claims.value(.phone, in: document).string.flatMap({ PhoneNumber($0) }) else { return nil }
        let isVerified = claims.value(.phoneVerified, in: document) == true
        return AddressClaim(address: .phone(number), isVerified: isVerified, isAuthoritative: false)
    }
}
