internal import OpenID
internal import ProviderKit

/// A client in the file.
struct ClientSection: SettingsSection {
    let name: [String: String]
    let secret: Secret?
    let secrets: [Secret]
    let jwks: Secret?
    let jwksURL: String?
    let `public`: Bool
    let redirectURIs: [String]
    let postLogoutRedirectURIs: [String]
    let backchannelLogoutURI: String?
    let uri: String?
    let logo: String?
    let policyURI: String?
    let tosURI: String?
    let firstParty: Bool
    let scopes: [String]?
    let grants: [Grant]?
    let resources: [String]
    let introspects: [String]
    let pkce: Requirement
    let par: Requirement
    let subject: OAuthClient.SubjectType
    let defaultMaxAge: Int?
    let guests: Bool
    let native: Bool?
    let confirm: Bool
    let accessType: AccessType?
    let accessLifetime: Duration?
    let refreshLifetime: Duration?

    enum Requirement: String, Sendable, CaseIterable, Decodable { case required, optional }
    enum AccessType: String, Sendable, CaseIterable, Decodable { case online, offline }

    /// A grant by its short name: that of the device grant is a URN on the wire.
    enum Grant: String, Sendable, CaseIterable, Decodable {
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
        case clientCredentials = "client_credentials"
        case deviceCode = "device_code"

        fileprivate var value: OAuthClient.Grant {
            switch self {
            case .authorizationCode: .authorizationCode
            case .refreshToken: .refreshToken
            case .clientCredentials: .clientCredentials
            case .deviceCode: .deviceCode
            }
        }
    }

    static let settings = [
        Setting("name", .localized, required: true, help: "The client's name, for all languages or by language."),
        Setting("secret", .clientSecret, help: "The secret of a client that can keep one."),
        Setting(
            "secrets", .list(of: .clientSecret), default: [], help: "Further valid secrets, while one is replaced."),
        Setting("jwks", .clientKeys, help: "The public keys of a client that signs its assertions (RFC 7523)."),
        Setting("jwksURL", .clientURL, help: "Where such a client publishes its keys."),
        Setting("public", .flag, default: "false", help: "The client cannot keep a secret, as an app or a web page."),
        Setting(
            "redirectURIs", .list(of: .clientRedirectURI), default: [],
            help:
                "Where answers may go, compared byte for byte. `http://127.0.0.1/…` and `http://[::1]/…` without a port match every port."
        ),
        Setting(
            "postLogoutRedirectURIs", .list(of: .clientRedirectURI), default: [],
            help: "Where people may go after they have signed out, compared as `redirectURIs`."),
        Setting(
            "backchannelLogoutURI", .clientURL,
            help: "Where the client is told that a session has ended (OpenID Connect Back-Channel Logout)."),
        Setting("uri", .clientURL, help: "The client's page."),
        Setting("logo", .clientLogo, help: "The client's picture, which browsers load to ask for consent."),
        Setting("policyURI", .clientURL, help: "The client's privacy policy, which the page of consent links to."),
        Setting("tosURI", .clientURL, help: "The client's terms of service, which the page of consent links to."),
        Setting("firstParty", .flag, default: "false", help: "People need not consent: the operator runs the client."),
        Setting(
            "scopes", .list(of: .text),
            help: """
                The scopes that the client may have, besides those of its resources. Default: `openid`, `profile`, \
                `email`.
                """),
        Setting(
            "grants", .list(of: .choice(Grant.allCases)),
            help: "What the client may use at the token endpoint. Default: `authorization_code`, `refresh_token`."),
        Setting("resources", .list(of: .text), default: [], help: "The resources that it may ask tokens for."),
        Setting(
            "introspects", .list(of: .text), default: [],
            help: "The resources whose tokens it may inspect, and the audience, for those of the API."),
        Setting(
            "pkce", .choice(Requirement.allCases), default: "required",
            help: "Whether requests must have a PKCE code challenge (RFC 7636)."),
        Setting(
            "par", .choice(Requirement.allCases), default: "optional",
            help: "Whether requests must be pushed (RFC 9126)."),
        Setting(
            "subject", .choice(OAuthClient.SubjectType.allCases), default: "public",
            help: "Whether `sub` is the account's uid, or differs by the host of the client's redirect URIs."),
        Setting("defaultMaxAge", .integer(0...31_536_000), help: "`max_age` in seconds, for requests without it."),
        Setting("guests", .flag, default: "false", help: "Guests may sign in to the client."),
        Setting("native", .flag, help: "The client is an app on a device. Default: its redirect URIs tell."),
        Setting("confirm", .flag, default: "true", help: "Requests of an app on a device need at least one press."),
        Setting("accessType", .choice(AccessType.allCases), help: "The `access_type` of requests without it."),
        Setting("accessLifetime", .duration(.seconds(1) ... .seconds(86_400)), help: "How long its tokens are valid."),
        Setting("refreshLifetime", .positiveDuration, help: "How long its refresh tokens may stay unused."),
    ]

    private var allSecrets: [String] { ([secret].compactMap(\.self) + secrets).map(\.value) }
    private var allGrants: [Grant] { grants ?? [.authorizationCode, .refreshToken] }

    func validate() throws(SettingsError) {
        guard [!allSecrets.isEmpty, jwks != nil, jwksURL != nil, self.public].count(where: { $0 }) == 1 else {
            throw SettingsError(
                setting: "secret", reason: "a client has one of a secret, `jwks`, `jwksURL` and `public: true`")
        }
        guard !allGrants.contains(.authorizationCode) || !redirectURIs.isEmpty else {
            throw SettingsError(setting: "redirectURIs", reason: "is required with authorization_code")
        }
        guard !self.public || pkce == .required else {
            throw SettingsError(setting: "pkce", reason: "a public client needs it")
        }
        if allGrants.contains(.clientCredentials) {
            guard !self.public else {
                throw SettingsError(setting: "grants", reason: "a public client cannot have client_credentials")
            }
            guard !resources.isEmpty else {
                throw SettingsError(setting: "resources", reason: "client_credentials needs at least one")
            }
        }
        let own = ["account"] + StandardScope.qrNames
        if let own = scopes?.first(where: own.contains), !firstParty {
            throw SettingsError(setting: "scopes", reason: "\(own) is for clients with `firstParty: true`")
        }
        guard subject == .public || client(id: "").sector != nil else {
            throw SettingsError(setting: "subject", reason: "pairwise needs redirect URIs of one host")
        }
    }

    func client(id: String) -> OAuthClient {
        var client = OAuthClient(id: id, names: name)
        client.secrets = allSecrets.map { Digest.sha256(of: $0) }
        client.keys = jwks.map { .set($0.value) } ?? jwksURL.map { .published(url: $0) }
        client.redirectURIs = redirectURIs.compactMap { try? ClientRedirectURI($0) }
        client.postLogoutRedirectURIs = postLogoutRedirectURIs.compactMap { try? ClientRedirectURI($0) }
        client.backchannelLogoutURI = backchannelLogoutURI
        client.uri = uri
        (client.logo, client.policyURI, client.tosURI) = (logo, policyURI, tosURI)
        client.isFirstParty = firstParty
        if let scopes { client.scopes = Set(scopes) }
        client.grants = Set(allGrants.map(\.value))
        client.resources = resources
        client.introspects = introspects
        client.requiresPKCE = pkce == .required
        client.requiresPushedRequests = par == .required
        client.subjectType = subject
        client.defaultMaxAge = defaultMaxAge
        client.allowsGuests = guests
        client.isDeclaredNative = native == true
        client.asksToConfirm = confirm
        client.isOffline = accessType.map { $0 == .offline }
        client.accessLifetime = accessLifetime
        client.refreshLifetime = refreshLifetime
        return client
    }
}
