public import ProviderKit

/// Sign in with Apple.
///
/// The settings are complete; verification comes with the other delegated providers.
public struct AppleProvider: Provider {
    /// An app's registration with Apple.
    public struct Settings: ProviderSettings {
        /// Bundle and services ids that an identity token may be meant for.
        public var clientIDs: [String]
        /// The developer team.
        public var teamID: String?
        /// Of the private key.
        public var keyID: String?
        /// A `.p8` file's content.
        public var privateKey: String?
        /// Where Apple is.
        public var baseURL: String?
        /// `required`, `optional` or `off`.
        public var nonce: String?

        /// Team, key id and key are needed together, for the calls that Apple must know us for.
        public static let schema = SettingsSchema([
            SettingField("clientIDs", .texts, required: true, help: "Bundle and services ids of the apps."),
            SettingField("teamID", .text, help: "The developer team's id."),
            SettingField("keyID", .text, help: "The id of the private key."),
            SettingField("privateKey", .secret, help: "The private key, as in the .p8 file."),
            SettingField("baseURL", .url, help: "Where Apple is. Default: https://appleid.apple.com."),
            SettingField(
                "nonce", .choice(["required", "optional", "off"]), help: "Whether a token's nonce is checked."),
        ])
    }

    /// `apple`.
    public static let kind = "apple"
    /// What a button says.
    public static let displayName = "Apple"

    /// Takes any settings that decode.
    public init(settings: Settings, context: ProviderContext) {}
}
