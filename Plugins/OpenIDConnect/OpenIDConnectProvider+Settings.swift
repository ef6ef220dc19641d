public import ProviderKit

extension OpenIDConnectProvider {
    /// A client's registration with the issuer.
    public struct Settings: ProviderSettings {
        /// The schema requires an issuer; a preset derives it from its own URL.
        var issuer: String?
        var clientID: String
        var clientSecret: String?
        var scopes, audiences: [String]?
        var trustEmail: Bool?
        var hostedDomains, tenants: [String]?
        var claims: [String: String?]?
        var nonce: NonceRule?
        var authorizationParameters: [String: String?]?
        var forward: [String]?
        /// The URL of a preset's service.
        var baseURL: String?

        /// The schema; the secret is optional, because public clients have none.
        public static let schema = SettingsSchema([
            SettingField("issuer", .url, required: true, help: "The issuer, as in its tokens."),
            SettingField("clientID", .text, required: true, help: "The client id at the issuer."),
            SettingField("clientSecret", .secret, help: "The client secret at the issuer. A public client has none."),
            .scopes(["email", "profile"]), .audiences, .trustEmail, .hostedDomains, .tenants, .claims, .nonce,
            .authorizationParameters, .forward,
        ])

        /// Checks the settings and returns the issuer.
        /// - Throws: `SettingsError`.
        func checkedIssuer() throws -> String {
            guard let issuer, !issuer.contains("?"), !issuer.contains("#") else {
                throw SettingsError(setting: "issuer", reason: "has a query or a fragment")
            }
            guard !clientID.isEmpty else { throw SettingsError(setting: "clientID", reason: "is empty") }
            // An empty list is refused, because it could mean that all or that none may sign in.
            for (name, list) in [("hostedDomains", hostedDomains), ("tenants", tenants)] where list?.isEmpty == true {
                throw SettingsError(setting: name, reason: "is empty; leave it out to let everyone sign in")
            }
            return issuer
        }
    }
}

/// Settings that presets share.
extension SettingField {
    static func scopes(_ standard: [String]) -> SettingField {
        let standard = standard.isEmpty ? "none" : standard.joined(separator: ", ")
        return SettingField("scopes", .texts, help: "Scopes in addition to openid. Default: \(standard).")
    }

    static let audiences = SettingField(
        "audiences", .texts, help: "Further client ids, of native apps, that an ID token may be issued for.")
    static let trustEmail = SettingField(
        "trustEmail", .flag, help: "Accepts the issuer's claim that an address is verified. Default: false.")
    static let hostedDomains = SettingField(
        "hostedDomains", .texts, help: "Only these hosted domains (claim hd) may sign in.")
    static let tenants = SettingField("tenants", .texts, help: "Only these tenants (claim tid) may sign in.")
    static let claims = SettingField("claims", .map, help: "Names of the issuer's claims, by ours.")
    static let nonce = SettingField(
        "nonce", .choice(NonceRule.choices),
        help: "Whether the nonce of a token that an app presents is checked. Default: optional.")
}
