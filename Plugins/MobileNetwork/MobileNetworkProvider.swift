internal import Foundation
public import ProviderKit

/// Sign-in with a phone number that the mobile operator confirms by a header from its gateway or a signed assertion.
///
/// The header counts only if the TCP peer is a gateway, because any client can send it and `X-Forwarded-For`.
public struct MobileNetworkProvider: DirectProvider, GatewayProvider {
    /// The body of `POST /auth/mobile-network`.
    public struct Credential: RequestPayload {
        /// The assertion, signed by the operator; it may be absent only for a phone behind a gateway.
        public let assertion: String?

        /// The fields of the body: only the assertion.
        public static let fields = RequestFields(Self.init, .init("assertion", isRequired: true))
    }

    /// `true`, for claims of assertions.
    public static let exposesClaims = true
    /// `mobile-network`.
    public static let kind = "mobile-network"
    /// The label of the sign-in button.
    public static let displayName = "Mobile network"

    private let gateways: [AddressRange]
    private let header: String?
    private let rules: TokenRules?
    private let exposedClaims: [String]
    private let tokens: any TokenVerifying

    /// Creates the provider.
    /// - Throws: `SettingsError` if neither the header nor assertions are configured, or one of them is incomplete.
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

    /// Verifies the assertion if there is one, otherwise the header.
    public func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity {
        if let assertion = credential.assertion { return try await verify(assertion: assertion) }
        guard let evidence = try evidence(in: origin) else { throw ProviderError.missing(field: "assertion") }
        return evidence
    }

    /// The number in the gateway's header; `nil` if no gateway has added one.
    public func evidence(in origin: RequestOrigin) throws -> VerifiedIdentity? {
        guard let header, let peer = origin.peer, gateways.contains(where: { $0.contains(peer) }) else { return nil }
        let values = origin.headers(header)
        guard !values.isEmpty else { return nil }
        // Most gateways write the number with its country code but without the plus sign.
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

    /// The evidence for a number, with the operator as authority for the number.
    ///
    /// RFC 8176 has no name for this method; `mno` stands for mobile network operator.
    private func identity(_ number: PhoneNumber, provenAt: Date? = nil, singleUse: SingleUse? = nil) -> VerifiedIdentity
    {
        VerifiedIdentity(
            providerUid: number.value,
            addresses: [AddressClaim(address: .phone(number), isVerified: true, isAuthoritative: true)],
            methods: ["mno"], authenticatedAt: provenAt, singleUse: singleUse)
    }
}
