public import ProviderKit

/// A phone number proven by a code.
///
/// The subject is the number itself, in international form.
public struct PhoneProvider: ChallengeProvider {
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
    /// `POST /auth/phone/otp` takes `phone`.
    public static let targetField = "phone"

    private let allowedCountries: Set<String>?
    /// Numbers are given to other people, so 365 days at most unless configured.
    public let idleLimit: Duration?

    /// - Throws: `SettingsError` for what is no country's code.
    public init(settings: Settings, context: ProviderContext) throws {
        let countries = settings.allowedCountries?.map { $0.uppercased() }
        guard countries?.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (65...90).contains($0) } }) ?? true
        else {
            throw SettingsError(setting: "allowedCountries", reason: "takes ISO 3166 codes of two letters, as in FR")
        }
        allowedCountries = countries.map { Set($0) }
        idleLimit = .seconds(settings.idleLimit ?? 365 * 86_400)
    }

    /// The number, if it can receive text messages and its country is one of those that are allowed.
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
