public import ProviderKit

extension AppleProvider {
    /// An app's registration with Apple.
    public struct Settings: ProviderSettings {
        /// Bundle and services ids that an identity token may be meant for.
        public var clientIDs: [String]
        /// The services id that people sign in to on the web.
        public var webClientID: String?
        /// The developer team.
        public var teamID: String?
        /// Of the private key.
        public var keyID: String?
        /// A `.p8` file's content.
        public var privateKey: String?
        /// Where Apple is.
        public var baseURL: String?
        /// Whether a token needs a nonce.
        public var nonce: NonceRule?

        /// Team, key id and key are needed together, for the calls that Apple must know us for.
        public static let schema = SettingsSchema([
            SettingField("clientIDs", .texts, required: true, help: "Bundle and services ids of the apps."),
            SettingField(
                "webClientID", .text,
                help: "The services id for sign-in on the web, one of clientIDs. Default: the first of them."),
            SettingField("teamID", .text, help: "The developer team's id."),
            SettingField("keyID", .text, help: "The id of the private key."),
            SettingField("privateKey", .secret, help: "The private key, as in the .p8 file."),
            SettingField("baseURL", .url, help: "Where Apple is. Default: https://appleid.apple.com."),
            SettingField("nonce", .choice(NonceRule.choices), help: "Whether a token's nonce is checked."),
        ])

        /// What proves us to Apple; `nil` where the settings name nothing of it.
        func clientKey() throws -> AppleService.Key? {
            guard teamID != nil || keyID != nil || privateKey != nil else { return nil }
            func given(_ value: String?, _ name: String) throws -> String {
                guard let value else {
                    throw SettingsError(
                        setting: name, reason: "is missing: teamID, keyID and privateKey are needed together")
                }
                return value
            }
            return AppleService.Key(
                teamID: try given(teamID, "teamID"), id: try given(keyID, "keyID"),
                pem: try given(privateKey, "privateKey"))
        }
    }
}
