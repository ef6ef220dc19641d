internal import OpenID
internal import ProviderKit

/// A mobile app in the file, whose installations register themselves.
struct SoftwareSection: SettingsSection {
    let name: [String: String]
    let version: String
    let initialAccessTokens: [Secret]
    let statements: [Secret]
    let statementIssuer: StatementIssuerSection?
    let redirectURIs: [String]
    let postLogoutRedirectURIs: [String]
    let scopes: [String]?
    let accessType: ClientSection.AccessType?
    let firstParty: Bool
    let confirm: Bool
    let firstLoginWithin: Duration
    let idle: Duration
    let accessLifetime: Duration?
    let refreshLifetime: Duration?
    let uri: String?
    let logo: String?
    let policyURI: String?
    let tosURI: String?

    static let settings =
        [
            Setting("name", .localized, required: true, help: "The app's name, for all languages or by language."),
            Setting("version", .text, default: "1", help: "The version that installations are told."),
            Setting(
                "initialAccessTokens", .list(of: .clientSecret), default: [],
                help:
                    "The tokens with which installations register. Each copy of the app has one, so it proves nothing."
            ),
            Setting(
                "statements", .list(of: .statement), default: [],
                help: """
                    The software statements that are accepted byte for byte; `gatehouse openid statement` makes one.
                    """),
            Setting(
                "statementIssuer", .section(StatementIssuerSection.self),
                help: "Who signs further statements (RFC 7591, 2.3)."),
            Setting(
                "redirectURIs", .list(of: .clientRedirectURI), default: [],
                help: "Where answers to the app may go, compared byte for byte."),
            Setting(
                "postLogoutRedirectURIs", .list(of: .clientRedirectURI), default: [],
                help: "Where people may go after they have signed out, compared as `redirectURIs`."),
            Setting(
                "scopes", .list(of: .text),
                help: "The scopes that installations may have. Default: `openid`, `profile`, `email`."),
            Setting("firstParty", .flag, default: "true", help: "People need not consent: the operator runs the app."),
            Setting(
                "firstLoginWithin", .positiveDuration, default: "1h",
                help: "How long after its registration somebody must have signed in on an installation."),
            Setting(
                "idle", .positiveDuration, default: "365d",
                help: "How long an installation on which somebody has signed in may stay unused."),
        ] + ClientSection.settings.filter { shared.contains($0.name) }

    /// The settings that clients have, too.
    private static let shared = [
        "accessType", "confirm", "accessLifetime", "refreshLifetime", "uri", "logo", "policyURI", "tosURI",
    ]

    /// The names that scopes of software may have.
    private static let knownScopes = StandardScope.allCases.map(\.rawValue) + StandardScope.qrNames

    func validate() throws(SettingsError) {
        guard !initialAccessTokens.isEmpty else {
            throw SettingsError(setting: "initialAccessTokens", reason: "needs at least one token")
        }
        guard !statements.isEmpty || statementIssuer != nil else {
            throw SettingsError(setting: "statements", reason: "software has statements, a `statementIssuer`, or both")
        }
        guard !redirectURIs.isEmpty else {
            throw SettingsError(setting: "redirectURIs", reason: "needs at least one URI")
        }
        guard let scopes else { return }
        guard !scopes.isEmpty else { throw SettingsError(setting: "scopes", reason: "needs at least one scope") }
        if let unknown = scopes.first(where: { !Self.knownScopes.contains($0) }) {
            throw SettingsError(setting: "scopes", reason: "names the scope \(unknown), which does not exist")
        }
        let own = ["account", "native"] + StandardScope.qrNames
        if let own = scopes.first(where: own.contains), !firstParty {
            throw SettingsError(setting: "scopes", reason: "\(own) is for software with `firstParty: true`")
        }
    }

    func software(id: String) -> Software {
        var client = OAuthClient(id: id, names: name)
        client.redirectURIs = redirectURIs.compactMap { try? ClientRedirectURI($0) }
        client.postLogoutRedirectURIs = postLogoutRedirectURIs.compactMap { try? ClientRedirectURI($0) }
        client.isFirstParty = firstParty
        if let scopes { client.scopes = Set(scopes) }
        client.grants = [.authorizationCode, .clientCredentials, .refreshToken]
        client.isDeclaredNative = true
        client.asksToConfirm = confirm
        client.isOffline = accessType.map { $0 == .offline }
        (client.accessLifetime, client.refreshLifetime) = (accessLifetime, refreshLifetime)
        (client.uri, client.logo, client.policyURI, client.tosURI) = (uri, logo, policyURI, tosURI)
        var software = Software(template: client, version: version)
        software.initialTokens = initialAccessTokens.map { Digest.sha256(of: $0.value) }
        software.statements = statements.map { Digest.sha256(of: $0.value) }
        software.statementIssuer = statementIssuer?.value
        (software.firstLoginWithin, software.idle) = (firstLoginWithin, idle)
        return software
    }
}

/// A signer of software statements in the file.
struct StatementIssuerSection: SettingsSection {
    let issuer: String
    let jwks: Secret?
    let jwksURL: String?
    let algorithms: [String]?

    static let settings = [
        Setting("issuer", .text, required: true, help: "The `iss` of its statements."),
        Setting("jwks", .clientKeys, help: "Its public keys."),
        Setting("jwksURL", .clientURL, help: "Where it publishes its keys."),
        Setting(
            "algorithms", .list(of: .choice(TokenRules.Algorithm.allCases)),
            help: "What its statements may be signed with. Default: `RS256`, `ES256`, `EdDSA`."),
    ]

    func validate() throws(SettingsError) {
        guard (jwks != nil) != (jwksURL != nil) else {
            throw SettingsError(setting: "jwks", reason: "a statement's issuer has one of `jwks` and `jwksURL`")
        }
        guard algorithms?.isEmpty != true else {
            throw SettingsError(setting: "algorithms", reason: "needs at least one")
        }
    }

    fileprivate var value: Software.StatementIssuer? {
        guard let keys = jwks.map({ TokenKeys.set($0.value) }) ?? jwksURL.map({ .published(url: $0) }) else {
            return nil
        }
        return Software.StatementIssuer(
            issuer: issuer, keys: keys,
            algorithms: algorithms.map { Set($0.compactMap(TokenRules.Algorithm.init)) } ?? [.rs256, .es256, .edDSA])
    }
}

/// How clients that are not configured may register, in the file.
struct RegistrationSection: SettingsSection {
    let mode: RegistrationSettings.Mode
    let initialAccessTokens: [Secret]
    let scopes: [String]?
    let pkce: ClientSection.Requirement
    let idle: Duration

    static let settings = [
        Setting(
            "mode", .choice(RegistrationSettings.Mode.allCases), default: "off",
            help: "Whether clients may register themselves: not at all, with an initial access token, or all of them."),
        Setting(
            "initialAccessTokens", .list(of: .clientSecret), default: [],
            help: "The tokens with which clients register in mode `token`."),
        Setting(
            "scopes", .list(of: .text),
            help: "The scopes that registered clients may have. Default: `openid`, `profile`, `email`."),
        Setting(
            "pkce", .choice(ClientSection.Requirement.allCases), default: "required",
            help: "Whether their requests must have a PKCE code challenge (RFC 7636); public clients need it always."),
        Setting(
            "idle", .positiveDuration, default: "90d",
            help: """
                How long a registered client may stay unused before it is deleted. One that no person has allowed \
                anything yet is deleted after a day.
                """),
    ]

    func validate() throws(SettingsError) {
        guard mode != .token || !initialAccessTokens.isEmpty else {
            throw SettingsError(setting: "initialAccessTokens", reason: "mode `token` needs at least one")
        }
        guard let scopes else { return }
        let known: [StandardScope] = [.openid, .profile, .email, .phone, .offlineAccess]
        guard !scopes.isEmpty else { throw SettingsError(setting: "scopes", reason: "needs at least one scope") }
        if let other = scopes.first(where: { !known.map(\.rawValue).contains($0) }) {
            let isKnown = StandardScope(rawValue: other) != nil || StandardScope.qrNames.contains(other)
            throw SettingsError(
                setting: "scopes",
                reason: isKnown
                    ? "\(other) is for clients that the operator runs"
                    : "names the scope \(other), which does not exist")
        }
    }

    var value: RegistrationSettings {
        var settings = RegistrationSettings()
        (settings.mode, settings.idle) = (mode, idle)
        if let scopes { settings.scopes = Set(scopes) }
        settings.initialTokens = initialAccessTokens.map { Digest.sha256(of: $0.value) }
        settings.requiresPKCE = pkce == .required
        return settings
    }
}
