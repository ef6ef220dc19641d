public import ProviderKit

/// A phone number that the mobile operator vouches for.
///
/// The settings are complete; verification comes with the other delegated providers.
public struct MobileNetworkProvider: Provider {
    /// Whose word is taken: a gateway's header or a signed assertion.
    public struct Settings: ProviderSettings {
        /// Addresses that the header is taken from.
        public var gateways: [String]?
        /// The header that holds the number.
        public var header: String?
        /// `iss` of assertions.
        public var issuer: String?
        /// Where the keys of assertions are.
        public var jwksURL: String?

        /// One of the two ways is needed.
        public static let schema = SettingsSchema([
            SettingField("gateways", .texts, help: "Addresses of the operator's gateways, as CIDR ranges."),
            SettingField("header", .text, help: "The header in which a gateway names the number."),
            SettingField("issuer", .text, help: "The issuer of signed assertions."),
            SettingField("jwksURL", .url, help: "Where the keys of signed assertions are."),
        ])
    }

    /// `mobile-network`.
    public static let kind = "mobile-network"
    /// What a button says.
    public static let displayName = "Mobile network"

    /// Takes any settings that decode.
    public init(settings: Settings, context: ProviderContext) {}
}
