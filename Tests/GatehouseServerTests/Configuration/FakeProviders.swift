import ProviderKit

/// A provider that only has settings.
protocol FakeProvider: Provider {
    var settings: Settings { get }
    init(settings: Settings)
}

extension FakeProvider {
    static var displayName: String { kind }

    init(settings: Settings, context: ProviderContext) throws { self.init(settings: settings) }
}

struct PhoneFake: FakeProvider {
    struct Settings: ProviderSettings {
        var allowedCountries: [String]
        var idleLimit: Duration?

        static let schema = SettingsSchema([
            SettingField("allowedCountries", .texts, required: true, help: "Countries."),
            SettingField("idleLimit", .duration, help: "Idle."),
        ])
    }

    static let kind = "phone"
    static let flow = ProviderFlow.challenge
    let settings: Settings
}

struct AppleFake: FakeProvider {
    struct Settings: ProviderSettings {
        var clientIDs: [String]
        var teamID: String
        var keyID: String
        var privateKey: String
        var baseURL: String?

        static let schema = SettingsSchema([
            SettingField("clientIDs", .texts, required: true, help: "Client ids."),
            SettingField("teamID", .text, required: true, help: "Team."),
            SettingField("keyID", .text, required: true, help: "Key."),
            SettingField("privateKey", .secret, required: true, help: "Key."),
            SettingField("baseURL", .url, help: "Base."),
        ])
    }

    static let kind = "apple"
    let settings: Settings
}

/// A provider that refuses settings which its schema accepts: an issuer without https, and a secret that its error
/// repeats.
struct OIDCFake: Provider {
    struct Settings: ProviderSettings {
        var issuer: String
        var clientID: String
        var clientSecret: String
        var trustEmail: Bool?
        var nonce: String?

        static let schema = SettingsSchema([
            SettingField("issuer", .url, required: true, help: "Issuer."),
            SettingField("clientID", .text, required: true, help: "Client."),
            SettingField("clientSecret", .secret, required: true, help: "Secret."),
            SettingField("trustEmail", .flag, help: "Trust."),
            SettingField("nonce", .choice(["required", "off"]), help: "Nonce."),
        ])
    }

    static let kind = "oidc"
    static let exposesClaims = true
    static let displayName = "OpenID Connect"
    static let flow = ProviderFlow.redirect
    let settings: Settings
    let context: ProviderContext

    init(settings: Settings, context: ProviderContext) throws {
        guard settings.issuer.hasPrefix("https://") else {
            throw SettingsError(setting: "issuer", reason: "has to be https")
        }
        guard settings.clientSecret != "leaked-secret" else {
            throw SettingsError(setting: "clientSecret", reason: "\(settings.clientSecret) is too well known")
        }
        self.settings = settings
        self.context = context
    }
}

struct OAuth2Fake: FakeProvider {
    struct Settings: ProviderSettings {
        var scopes: [String]
        var claims: [String: String?]

        static let schema = SettingsSchema([
            SettingField("authorizationEndpoint", .url, required: true, help: "Where."),
            SettingField("tokenEndpoint", .url, required: true, help: "Where."),
            SettingField("userInfoEndpoint", .url, required: true, help: "Where."),
            SettingField("clientID", .text, required: true, help: "Client."),
            SettingField("clientSecret", .secret, required: true, help: "Secret."),
            SettingField("scopes", .texts, required: true, help: "Scopes."),
            SettingField("claims", .map, required: true, help: "Claims."),
        ])
    }

    static let kind = "oauth2"
    let settings: Settings
}

struct CustomTokenFake: FakeProvider {
    struct Settings: ProviderSettings {
        /// A type that decodes from a string, so that the decoder itself refuses unknown values.
        enum Algorithm: String, Decodable { case rs256 = "RS256", es256 = "ES256" }

        var issuer: String
        var audience: String
        var jwks: String
        var algorithms: [Algorithm]
        var maximumAge: Int?

        static let schema = SettingsSchema([
            SettingField("issuer", .url, required: true, help: "Issuer."),
            SettingField("audience", .text, required: true, help: "Audience."),
            SettingField("jwks", .secret, required: true, help: "Keys."),
            SettingField("algorithms", .texts, required: true, help: "Algorithms."),
            SettingField("maximumAge", .duration, help: "Age."),
        ])
    }

    static let kind = "custom-token"
    let settings: Settings
}

struct MobileNetworkFake: FakeProvider {
    struct Settings: ProviderSettings {
        var header: String

        static let schema = SettingsSchema([
            SettingField("gateways", .texts, required: true, help: "Gateways."),
            SettingField("header", .text, required: true, help: "Header."),
            SettingField("issuer", .url, required: true, help: "Issuer."),
            SettingField("jwksURL", .url, required: true, help: "Keys."),
        ])
    }

    static let kind = "mobile-network"
    let settings: Settings
}
