public import ProviderKit

/// Sign-in with any OpenID Connect provider, configured by its issuer.
///
/// People sign in on the issuer's pages (OpenID Connect Core, 3.1), or an app presents an ID token of the issuer's SDK. The
/// discovery document is fetched when first needed, so that an issuer that is down affects only its own sign-ins.
public struct OpenIDConnectProvider: RedirectProvider, NativeTokenProvider, RevokingProvider {
    /// `true`, for claims of the ID token or userinfo.
    public static let exposesClaims = true
    /// `oidc`.
    public static let kind = "oidc"
    /// The label of the sign-in button, unless the settings contain another.
    public static let displayName = "OpenID Connect"
    /// The person signs in on the issuer's pages.
    public static let flow = ProviderFlow.redirect

    let settings: Settings
    let traits: IssuerTraits
    let client: OAuthClient
    let parameters: AuthorizationParameters
    let discovery: Discovery
    let evidence: EvidenceReader
    /// The rule for tokens that apps present; the server's own flows always send a nonce.
    let nonce: NonceRule
    let ports: ProviderPorts

    /// Checks the settings, but does not contact the issuer.
    public init(settings: Settings, context: ProviderContext) throws {
        try self.init(settings: settings, traits: .of(issuer: settings.issuer ?? ""), context: context)
    }

    init(settings: Settings, traits: IssuerTraits, context: ProviderContext) throws {
        let issuer = try settings.checkedIssuer()
        (self.settings, self.traits) = (settings, traits)
        ports = context.ports
        client = OAuthClient(id: settings.clientID, secret: settings.clientSecret, ports: ports)
        parameters = try AuthorizationParameters(
            fixed: settings.authorizationParameters, forwarded: settings.forward)
        discovery = Discovery(issuer: issuer, accepted: traits.issuers(of: issuer), ports: ports)
        nonce = settings.nonce ?? traits.nonce
        var evidence = EvidenceReader(
            claims: try ClaimMap(settings.claims ?? [:], over: ClaimMap.standard), authority: traits.authority,
            trustsEmail: settings.trustEmail ?? false, profile: EvidenceReader.standardProfile + context.exposedClaims,
            exposed: context.exposedClaims)
        if settings.scopes?.contains("phone") == true { evidence.wanted.append(.phone) }
        self.evidence = evidence
    }

    /// How the client authenticates at the issuer's endpoints.
    func authentication(at issuer: IssuerDocument) -> ClientAuthentication {
        traits.authentication ?? issuer.authentication
    }
}
