public import ProviderKit

/// Any OAuth 2.0 service that tells who somebody is, without being an OpenID Connect provider.
///
/// The profile that the access token opens is the evidence; where each claim stands in it is configured.
public struct OAuth2Provider: RedirectProvider {
    /// From the profile.
    public static let exposesClaims = true
    /// `oauth2`.
    public static let kind = "oauth2"
    /// What a button says, where the settings name nothing better.
    public static let displayName = "OAuth 2.0"
    /// Through the service's pages.
    public static let flow = ProviderFlow.redirect

    private let settings: Settings
    private let client: OAuthClient
    private let evidence: EvidenceReader
    private let http: any HTTPFetching

    /// Refuses a map without `providerUid`, and an empty client id.
    public init(settings: Settings, context: ProviderContext) throws {
        guard !settings.clientID.isEmpty else { throw SettingsError(setting: "clientID", reason: "is empty") }
        self.settings = settings
        http = context.ports.http
        client = OAuthClient(id: settings.clientID, secret: settings.clientSecret, http: http)
        evidence = EvidenceReader(
            claims: try ClaimMap(settings.claims), authority: .word, trustsEmail: settings.trustEmail ?? false,
            profile: context.exposedClaims)
    }

    /// The service's page (RFC 6749, 4.1.1), with our state and proof key.
    public func authorizationURL(for flow: RedirectFlow) async throws -> String {
        settings.authorizationEndpoint
            .addingQuery([
                "response_type": "code", "client_id": client.id, "redirect_uri": flow.callbackURL,
                "scope": settings.scopes?.joined(separator: " "), "state": flow.state,
            ])
            .addingProofKey(of: flow, if: usesProofKey)
            .addingFreshLogin(of: flow)
    }

    /// Exchanges the code for an access token, and reads the profile with it.
    ///
    /// No such service says when the person proved who they are: the flow's begin counts.
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
        return identity
    }

    /// Switched off by a null, as other claims are.
    private var isEmailOff: Bool { settings.claims["email"] == .some(nil) }

    private var usesProofKey: Bool { settings.pkce ?? true }

    private var authentication: ClientAuthentication {
        settings.clientAuthentication.flatMap { ClientAuthentication(rawValue: $0) } ?? .basic
    }

    /// An entry's own flag is about its own address, which the profile's never is.
    private func primaryEmail(in list: JSONValue?) -> AddressClaim? {
        guard let entry = list?.array?.first(where: { $0["primary"].bool == true }),
            let email = entry["email"].string
        else { return nil }
        return EmailAuthority.word.claim(
            email, saidVerified: entry["verified"].bool ?? false, in: entry, isMapped: false,
            trustsEmail: settings.trustEmail ?? false)
    }
}
