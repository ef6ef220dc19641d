public import ProviderKit

/// Sign-in with tokens from an application's own legacy system.
///
/// The legacy system signs a token about a person, and the app presents the token once. The settings contain keys and
/// algorithms, and may map claims.
public struct CustomTokenProvider: DirectProvider {
    /// The body of `POST /auth/custom`.
    public struct Credential: RequestPayload {
        /// The token, signed by the legacy system.
        public let token: String

        /// The fields of the body: only the token.
        public static let fields = RequestFields(Self.init, .init("token"))
    }

    /// `true`, for claims of the token.
    public static let exposesClaims = true
    /// `custom-token`.
    public static let kind = "custom-token"
    /// The label of the sign-in button, unless the settings contain another.
    public static let displayName = "Existing account"
    /// `POST /auth/custom`.
    public static let route = "custom"

    let rules: TokenRules
    private let claims: ClaimMap
    private let exposedClaims: [String]
    private let trustsEmail: Bool
    let tokens: any TokenVerifying

    /// Creates the provider.
    /// - Throws: `SettingsError` unless exactly one source of keys is set and readable, and for symmetric algorithms.
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

    /// Verifies the token, which needs a `jti` because it works only once.
    public func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity {
        let token = try await tokens.verify(credential.token, by: rules)
        let document = JSONValue.object(token.all)
        guard token.issuedAt != nil, let singleUse = token.singleUse(by: "jti"),
            let subject = claims.subject(in: document), (1...255).contains(subject.utf8.count)
        else { throw ProviderError.refused }
        return VerifiedIdentity(
            providerUid: subject, addresses: [email(in: document), claims.phone(in: document)].compactMap(\.self),
            displayName: PersonName.joined(claims.value(.displayName, in: document).string),
            profile: document.claims(exposedClaims)
                .merging(claims.further.mapValues { document[claim: $0] }.filter { !$1.isNull }) { $1 },
            methods: ["fed"], authenticatedAt: token.provenAt, singleUse: singleUse)
    }

    /// The e-mail address; verified only if the claim is the Boolean `true`, not a string.
    private func email(in document: JSONValue) -> AddressClaim? {
        let isVerified = claims.value(.emailVerified, in: document) == true
        return claims.value(.email, in: document).string.flatMap {
            AddressClaim(email: $0, isVerified: isVerified, isAuthoritative: isVerified && trustsEmail)
        }
    }
}
