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

    /// `custom-token`.
    public static let kind = "custom-token"
    /// What a button says, where the settings name nothing better.
    public static let displayName = "Existing account"
    /// `POST /auth/custom`.
    public static let route = "custom"

    private let rules: TokenRules
    private let claims: ClaimNames
    private let trustsAddresses: Bool
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
        claims = try ClaimNames(settings.claims ?? [:])
        trustsAddresses = settings.trustEmail == true
        tokens = context.ports.tokens
    }

    /// Checks the token; it works once, so that one without a `jti` never does.
    public func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity {
        let token = try await tokens.verify(credential.token, by: rules)
        guard token.issuedAt != nil, let singleUse = token.singleUse(by: "jti"),
            let subject = claims.subject(in: token), (1...255).contains(subject.utf8.count)
        else { throw ProviderError.refused }
        return VerifiedIdentity(
            providerUid: subject, addresses: addresses(in: token),
            displayName: PersonName.joined(claims.value("displayName", in: token).string),
            profile: claims.profile(in: token), singleUse: singleUse)
    }

    private func addresses(in token: TokenClaims) -> [AddressClaim] {
        let email = claims.value("email", in: token).string.flatMap { EmailAddress($0) }.map(Address.email)
        let phone = claims.value("phone", in: token).string.flatMap { PhoneNumber($0) }.map(Address.phone)
        return [(email, "emailVerified"), (phone, "phoneVerified")].compactMap { address, verified in
            // Truth itself: a text "false" is true to nobody, and "true" is not ours to guess.
            let isVerified = claims.value(verified, in: token) == true
            return address.map {
                AddressClaim(address: $0, isVerified: isVerified, isAuthoritative: isVerified && trustsAddresses)
            }
        }
    }
}
