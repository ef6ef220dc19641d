public import ProviderKit

extension AppleProvider {
    /// An app's registration with Apple.
    public struct Settings: ProviderSettings {
        var clientIDs: [String]
        var webClientID, teamID, keyID, privateKey, baseURL: String?
        var nonce: NonceRule?

        /// The schema; `teamID`, `keyID` and `privateKey` are needed together, for calls with a client secret.
        public static let schema = SettingsSchema([
            SettingField("clientIDs", .texts, required: true, help: "Bundle and services ids of the apps."),
            SettingField(
                "webClientID", .text,
                help: "The services id for sign-in on the web, one of clientIDs. Default: the first of them."),
            SettingField("teamID", .text, help: "The developer team's id."),
            SettingField("keyID", .text, help: "The id of the private key."),
            SettingField("privateKey", .secret, help: "The private key, as in the .p8 file."),
            SettingField("baseURL", .url, help: "The URL of Apple's service. Default: https://appleid.apple.com."),
            SettingField(
                "nonce", .choice(NonceRule.choices),
                help: "Whether the nonce of a token is checked. Default: optional."),
        ])

        /// The key that authenticates the server with Apple, or `nil` if none is configured.
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
