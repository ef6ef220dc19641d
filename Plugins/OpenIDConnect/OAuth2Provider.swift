public import ProviderKit

/// Sign-in with an OAuth 2.0 service that has a profile endpoint but is not an OpenID Connect provider.
///
/// The profile is the evidence; the configuration maps its claims.
public struct OAuth2Provider: RedirectProvider {
    /// `true`, for claims of the profile.
    public static let exposesClaims = true
    /// `oauth2`.
    public static let kind = "oauth2"
    /// The label of the sign-in button, unless the settings contain another.
    public static let displayName = "OAuth 2.0"
    /// The person signs in on the service's pages.
    public static let flow = ProviderFlow.redirect

    let settings: Settings
    let client: OAuthClient
    private let parameters: AuthorizationParameters
    private let evidence: EvidenceReader
    private let http: any HTTPFetching

    /// Creates the provider.
    /// - Throws: `SettingsError` for `claims` without `providerUid`, and for an empty client id.
    public init(settings: Settings, context: ProviderContext) throws {
        guard !settings.clientID.isEmpty else { throw SettingsError(setting: "clientID", reason: "is empty") }
        self.settings = settings
        http = context.ports.http
        client = OAuthClient(id: settings.clientID, secret: settings.clientSecret, ports: context.ports)
        parameters = try AuthorizationParameters(
            fixed: settings.authorizationParameters, forwarded: settings.forward)
        evidence = EvidenceReader(
            claims: try ClaimMap(settings.claims), authority: .word, trustsEmail: settings.trustEmail ?? false,
            profile: context.exposedClaims)
    }

    /// The URL of the service's page (RFC 6749, 4.1.1).
    public func authorizationURL(for flow: RedirectFlow) async throws -> String {
        let own: [String: String?] = [
            "response_type": "code", "client_id": client.id, "redirect_uri": flow.callbackURL,
            "scope": settings.scopes?.joined(separator: " "), "state": flow.state,
        ]
        return settings.authorizationEndpoint.addingSortedQuery(parameters.query(of: flow, own: own))
            .addingProofKey(of: flow, if: usesProofKey)
    }

    /// Those of the setting `forward`.
    public var forwardedParameters: [String] { parameters.forwarded }

    /// Exchanges the code for an access token, and reads the profile with it.
    ///
    /// OAuth 2.0 services do not state when the person authenticated, so the start of the flow is used.
    public func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity {
        guard let code = callback["code"], !code.isEmpty else { throw ProviderError.refused }
        let answer = try await client.exchange(
            code, of: flow, at: settings.tokenEndpoint, by: authentication, proofKey: usesProofKey)
        guard let accessToken = answer.accessToken else { throw ProviderError.unavailable }
        guard let profile = try await http.profile(at: settings.userInfoEndpoint, with: accessToken) else {
            throw ProviderError.refused
        }
        guard profile.object != nil else { throw ProviderError.unavailable }
        var identity = try evidence.identity(in: [profile])
        if let endpoint = settings.emailsEndpoint, !isEmailOff {
            let list = try await http.profile(at: endpoint, with: accessToken)
            identity.addresses.removeAll { $0.address.kind == .email }
            identity.addresses += [primaryEmail(in: list)].compactMap(\.self)
        }
        identity.authenticatedAt = flow.beganAt
        if flow.isTrial { identity.profile = [profile].claims }
        return identity
    }

    /// Whether the configuration maps `email` to `null`.
    private var isEmailOff: Bool { settings.claims["email"] == .some(nil) }
    var usesProofKey: Bool { settings.pkce ?? true }

    var authentication: ClientAuthentication {
        settings.clientAuthentication.flatMap { ClientAuthentication(rawValue: $0) } ?? .basic
    }

    /// The entry of the list that is marked `primary`, verified if the entry is marked `verified`.
    private func primaryEmail(in list: JSONValue?) -> AddressClaim? {
        guard let entry = list?.array?.first(where: { $0["primary"].bool == true }), let email = entry["email"].string
        else { return nil }
        return EmailAuthority.word.claim(
            email, saidVerified: entry["verified"].bool ?? false, in: entry, isMapped: false,
            trustsEmail: settings.trustEmail ?? false)
    }
}
