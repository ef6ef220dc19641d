public import ProviderKit

/// Sign-in by phone number, with a code in a text message.
///
/// The number in international form is the `providerUid`.
public struct PhoneProvider: ChallengeProvider {
    /// The numbers that may be used.
    public struct Settings: ProviderSettings {
        var allowedCountries: [String]?
        var idleLimit: Int?

        /// The schema; both settings are optional.
        public static let schema = SettingsSchema([
            SettingField(
                "allowedCountries", .texts,
                help: "Countries whose numbers may be used, as ISO 3166 codes. Default: all."),
            SettingField(
                "idleLimit", .duration,
                help: "How long a number may stay unused before another sign-in must confirm it. Default: 365d."),
        ])
    }

    /// `phone`.
    public static let kind = "phone"
    /// The label of the sign-in button.
    public static let displayName = "Phone"
    /// The client requests a code first.
    public static let flow = ProviderFlow.challenge
    /// `POST /auth/phone/otp` takes `phone`.
    public static let targetField = "phone"

    private let allowedCountries: Set<String>?
    /// 365 days unless configured, because operators give numbers to other people.
    public let idleLimit: Duration?

    /// Creates the provider.
    /// - Throws: `SettingsError` for a country that has no numbers.
    public init(settings: Settings, context: ProviderContext) throws {
        let countries = settings.allowedCountries?.map { $0.uppercased() }
        guard countries?.allSatisfy(PhoneNumber.hasNumbers) ?? true else {
            throw SettingsError(
                setting: "allowedCountries", reason: "is not a list of ISO 3166 codes of countries, as in FR or GB")
        }
        allowedCountries = countries.map { Set($0) }
        idleLimit = .seconds(settings.idleLimit ?? 365 * 86_400)
    }

    /// Parses a number, which must be mobile and of an allowed country.
    public func target(typed: String) throws -> ChallengeTarget {
        guard let number = PhoneNumber(typed) else {
            throw ProviderError.malformed(field: "phone", reason: "is not a phone number in international form")
        }
        if let allowedCountries, !allowedCountries.contains(number.region ?? "") {
            throw ProviderError.malformed(field: "phone", reason: "is of a country that is not served")
        }
        guard number.takesTexts else {
            throw ProviderError.malformed(field: "phone", reason: "is not a mobile number")
        }
        return ChallengeTarget(providerUid: number.value, address: .phone(number))
    }
}
