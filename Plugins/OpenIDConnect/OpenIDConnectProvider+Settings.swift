public import ProviderKit

extension OpenIDConnectProvider {
    /// A client's registration with the issuer.
    public struct Settings: ProviderSettings {
        /// `iss` of its tokens, and where its discovery document is.
        public var issuer: String
        /// Ours with the issuer.
        public var clientID: String
        /// Ours with the issuer; a public client has none.
        public var clientSecret: String?
        /// Beside `openid`, which is always asked for.
        public var scopes: [String]?
        /// Further client ids, of native apps, that an ID token brought by an app may be meant for.
        public var audiences: [String]?
        /// Whether its word on addresses is taken.
        public var trustEmail: Bool?
        /// Google Workspace domains that may sign in.
        public var hostedDomains: [String]?
        /// Microsoft tenants that may sign in.
        public var tenants: [String]?
        /// Our names of claims to theirs.
        public var claims: [String: String?]?
        /// Whether the nonce of a token that an app brings is checked.
        public var nonce: NonceRule?

        /// Issuer and client id are enough for a public client.
        public static let schema = SettingsSchema([
            SettingField("issuer", .url, required: true, help: "The issuer, as in its tokens."),
            SettingField("clientID", .text, required: true, help: "The client id that the issuer gave."),
            SettingField("clientSecret", .secret, help: "The client secret that the issuer gave."),
            .scopes(["email", "profile"]), .audiences, .trustEmail, .hostedDomains, .tenants, .claims, .nonce,
        ])

        /// - Throws: `SettingsError`.
        func check() throws {
            guard !issuer.contains("?"), !issuer.contains("#") else {
                throw SettingsError(setting: "issuer", reason: "has a query or a fragment")
            }
            guard !clientID.isEmpty else { throw SettingsError(setting: "clientID", reason: "is empty") }
            // Empty, it could be meant to let in everybody as well as nobody.
            for (name, list) in [("hostedDomains", hostedDomains), ("tenants", tenants)] where list?.isEmpty == true {
                throw SettingsError(setting: name, reason: "is empty; without it everybody may sign in")
            }
        }
    }
}

/// Settings that presets take as well.
extension SettingField {
    static func scopes(_ standard: [String]) -> SettingField {
        let standard = standard.isEmpty ? "none" : standard.joined(separator: ", ")
        return SettingField("scopes", .texts, help: "Scopes beside openid. Default: \(standard).")
    }

    static let audiences = SettingField(
        "audiences", .texts, help: "Further client ids, of native apps, that an ID token may be meant for.")
    static let trustEmail = SettingField(
        "trustEmail", .flag, help: "Takes the issuer's word that an address is verified. Default: false.")
    static let hostedDomains = SettingField(
        "hostedDomains", .texts, help: "Only these hosted domains (claim hd) may sign in.")
    static let tenants = SettingField("tenants", .texts, help: "Only these tenants (claim tid) may sign in.")
    static let claims = SettingField("claims", .map, help: "Names of the issuer's claims, by ours.")
    static let nonce = SettingField(
        "nonce", .choice(NonceRule.choices),
        help: "Whether the nonce of a token that an app brings is checked. Default: optional.")
}
