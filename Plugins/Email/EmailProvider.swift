public import ProviderKit

/// Sign-in by e-mail address, with a password or a mailed code.
///
/// The normalised address is the `providerUid`.
public struct EmailProvider: PasswordProvider, ChallengeProvider {
    /// The pages that mailed links lead to.
    public struct Settings: ProviderSettings {
        var verificationLink, resetLink, verification: String?

        /// The schema; all settings are optional, because the server has default pages.
        public static let schema = SettingsSchema([
            SettingField(
                "verificationLink", .url,
                help: "The page that confirms a registration; `token` is added to its query. Default: the server's own."
            ),
            SettingField(
                "resetLink", .url,
                help: "The page that sets a new password; `token` is added to its query. Default: the server's own."),
            SettingField(
                "verification", .choice(["link", "linkWithPassword"]),
                help:
                    "Whether the link of a registration works alone, or only with the registered password. Default: link."
            ),
        ])
    }

    /// `email`.
    public static let kind = "email"
    /// The label of the sign-in button.
    public static let displayName = "E-mail"
    /// `POST /auth/email/otp` takes `email`.
    public static let targetField = "email"

    private let verificationLink: String
    private let signInPage: String?
    private let resetLink: String
    /// Whether `verification` is `linkWithPassword`.
    public let linksNeedPassword: Bool

    /// Creates the provider with the configured pages, or the server's own.
    public init(settings: Settings, context: ProviderContext) {
        linksNeedPassword = settings.verification == "linkWithPassword"
        signInPage = settings.verificationLink
        verificationLink = settings.verificationLink ?? "\(context.applicationURL)/verify-email"
        resetLink = settings.resetLink ?? "\(context.applicationURL)/reset-password"
    }

    /// Parses and normalises the address.
    public func subject(typed: String) throws -> PasswordSubject {
        guard let address = EmailAddress(typed) else {
            throw ProviderError.malformed(field: "email", reason: "is not one plain e-mail address")
        }
        return PasswordSubject(providerUid: address.value, address: address)
    }

    /// The page for the purpose with `token` in its query.
    public func link(for purpose: PasswordLink, token: String) -> String {
        (purpose == .reset ? resetLink : verificationLink).addingQuery(["token": token])
    }

    /// Parses the address that a code is sent to.
    public func target(typed: String) throws -> ChallengeTarget {
        let subject = try subject(typed: typed)
        return ChallengeTarget(providerUid: subject.providerUid, address: .email(subject.address))
    }

    /// The link to the app's sign-in page, if one is configured; the server's pages can't sign in to an app.
    public func signInLink(token: String) -> String? { signInPage?.addingQuery(["token": token]) }
}
