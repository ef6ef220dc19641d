public import ProviderKit

/// A phone number proven by a code.
///
/// The settings are complete; the challenge itself comes with the delivery of texts.
public struct PhoneProvider: Provider {
    /// Which numbers may be used.
    public struct Settings: ProviderSettings {
        /// ISO 3166 codes; all countries without it.
        public var allowedCountries: [String]?
        /// In seconds.
        public var idleLimit: Int?

        /// Both are optional.
        public static let schema = SettingsSchema([
            SettingField("allowedCountries", .texts, help: "Countries whose numbers may be used, as ISO 3166 codes."),
            SettingField(
                "idleLimit", .duration, help: "How long a number may stay unused before a second proof. Default: 365d."),
        ])
    }

    /// `phone`.
    public static let kind = "phone"
    /// What a button says.
    public static let displayName = "Phone"
    /// A code is asked for first.
    public static let flow = ProviderFlow.challenge

    /// Takes any settings that decode.
    public init(settings: Settings, context: ProviderContext) {}
}
