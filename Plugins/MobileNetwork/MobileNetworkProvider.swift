internal import Foundation
public import ProviderKit

/// A phone number that the mobile operator vouches for: its gateway adds a header to what passes through, or it signs
/// an assertion.
///
/// The header counts from the gateway's own address alone, which is the TCP peer's: anybody can write the header, and
/// anybody can write `X-Forwarded-For`.
public struct MobileNetworkProvider: DirectProvider {
    /// What an app presents, outside of the operator's own network.
    public struct Credential: Decodable, Sendable {
        /// Signed by the operator.
        public let assertion: String?

        private enum CodingKeys: String, CodingKey {
            case assertion
        }

        /// Only a phone behind a gateway may leave the assertion out: for every other client it is required.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            do {
                assertion = try container.decode(String.self, forKey: .assertion)
            } catch DecodingError.keyNotFound, DecodingError.valueNotFound {
                assertion = nil
            }
        }
    }

    /// From assertions.
    public static let exposesClaims = true
    /// `mobile-network`.
    public static let kind = "mobile-network"
    /// What a button says.
    public static let displayName = "Mobile network"

    private let gateways: [AddressRange]
    private let header: String?
    private let rules: TokenRules?
    private let exposedClaims: [String]
    private let tokens: any TokenVerifying

    /// - Throws: `SettingsError` where neither way is set up, or one is by half.
    public init(settings: Settings, context: ProviderContext) throws {
        (gateways, header) = try settings.gatewayHeader()
        rules = try settings.assertionRules(audience: context.audience)
        exposedClaims = context.exposedClaims
        tokens = context.ports.tokens
        guard rules != nil || exposedClaims.isEmpty else {
            throw SettingsError(setting: "expose", reason: "names claims of assertions, which need issuer and jwksURL")
        }
        guard header != nil || rules != nil else {
            throw SettingsError(
                setting: "gateways", reason: "is missing: gateways and header are needed, or issuer and jwksURL")
        }
    }

    /// A presented assertion is what counts, and a bad one is not made up for by the header.
    public func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity {
        if let assertion = credential.assertion { return try await verify(assertion: assertion) }
        guard let header, let peer = origin.peer, gateways.contains(where: { $0.contains(peer) }) else {
            throw ProviderError.missing(field: "assertion")
        }
        let values = origin.headers(header)
        guard !values.isEmpty else { throw ProviderError.missing(field: "assertion") }
        // Gateways write a number with its country code, most of them without the plus sign.
        guard values.count == 1, let number = values.first.flatMap({ PhoneNumber($0) ?? PhoneNumber("+\($0)") }) else {
            throw ProviderError.refused
        }
        return identity(number)
    }

    private func verify(assertion: String) async throws -> VerifiedIdentity {
        guard let rules else { throw ProviderError.refused }
        let claims = try await tokens.verify(assertion, by: rules)
        guard claims.issuedAt != nil, let singleUse = claims.singleUse(by: "jti"),
            let number = claims["phone_number"].string.flatMap({ PhoneNumber($0) })
        else { throw ProviderError.refused }
        var identity = identity(number, provenAt: claims.provenAt, singleUse: singleUse)
        identity.profile = JSONValue.object(claims.all).claims(exposedClaims)
        return identity
    }

    /// The operator owns the number and knows the card: nobody may speak for the address with more right.
    ///
    /// RFC 8176 has no name for that; `mno` is ours, for the mobile network operator.
    private func identity(
        _ number: PhoneNumber, provenAt: Date? = nil, singleUse: SingleUse? = nil
    ) -> VerifiedIdentity {
        VerifiedIdentity(
            providerUid: number.value,
            addresses: [AddressClaim(address: .phone(number), isVerified: true, isAuthoritative: true)],
            methods: ["mno"], authenticatedAt: provenAt, singleUse: singleUse)
    }
}
