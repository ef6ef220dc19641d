public import ProviderKit

/// Any OpenID Connect provider, from its issuer alone.
///
/// People go to the issuer and come back with a code (OpenID Connect Core, 3.1), or an app brings an ID token that it
/// got from the issuer's own SDK. Where the endpoints are and what the issuer can do is read from its discovery document
/// when first needed, never at start: an issuer that is down costs its own sign-ins alone.
public struct OpenIDConnectProvider: RedirectProvider, NativeTokenProvider, RevokingProvider {
    /// From the ID token or userinfo.
    public static let exposesClaims = true
    /// `oidc`.
    public static let kind = "oidc"
    /// What a button says, where the settings name nothing better.
    public static let displayName = "OpenID Connect"
    /// Through the issuer's pages.
    public static let flow = ProviderFlow.redirect

    let settings: Settings
    let traits: IssuerTraits
    let client: OAuthClient
    let discovery: Discovery
    let evidence: EvidenceReader
    /// Of tokens that apps bring; a flow of our own has a nonce unless it is `off`.
    let nonce: NonceRule
    let ports: ProviderPorts

    /// Refuses what is wrong in itself; whether the issuer exists shows when somebody signs in.
    public init(settings: Settings, context: ProviderContext) throws {
        try self.init(settings: settings, traits: .of(issuer: settings.issuer), context: context)
    }

    init(settings: Settings, traits: IssuerTraits, context: ProviderContext) throws {
        try settings.check()
        self.settings = settings
        self.traits = traits
        ports = context.ports
        client = OAuthClient(id: settings.clientID, secret: settings.clientSecret, http: ports.http)
        discovery = Discovery(issuer: settings.issuer, accepted: traits.issuers(of: settings.issuer), ports: ports)
        nonce = settings.nonce ?? traits.nonce
        var evidence = EvidenceReader(
            claims: try ClaimMap(settings.claims ?? [:], over: ClaimMap.standard), authority: traits.authority,
            trustsEmail: settings.trustEmail ?? false, profile: EvidenceReader.standardProfile + context.exposedClaims,
            exposed: context.exposedClaims)
        if settings.scopes?.contains("phone") == true { evidence.wanted.append(.phone) }
        self.evidence = evidence
    }

    /// How the client proves itself at the issuer's endpoints.
    func authentication(at issuer: IssuerDocument) -> ClientAuthentication {
        traits.authentication ?? issuer.authentication
    }
}
