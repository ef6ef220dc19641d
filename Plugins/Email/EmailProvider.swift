public import ProviderKit

/// E-mail with a password.
///
/// The subject is the normalised address itself.
public struct EmailProvider: PasswordProvider, ChallengeProvider {
    /// Where the mailed links lead.
    public struct Settings: ProviderSettings {
        /// Page that posts the token of a registration.
        public var verificationLink: String?
        /// Page that asks for a new password and posts it with the token.
        public var resetLink: String?
        /// What opens the account of a registration: `link` or `linkWithPassword`.
        public var verification: String?

        /// All are optional: the server has small pages of its own.
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
                help: "Whether a registration's link works alone, or only with the registered password. Default: link."),
        ])
    }

    /// `email`.
    public static let kind = "email"
    /// What a button says.
    public static let displayName = "E-mail"
    /// `POST /auth/email/otp` takes `email`.
    public static let targetField = "email"

    private let verificationLink: String
    private let signInPage: String?
    private let resetLink: String
    /// Set by `verification: linkWithPassword`.
    public let linksNeedPassword: Bool

    /// Falls back to the server's own pages.
    public init(settings: Settings, context: ProviderContext) {
        linksNeedPassword = settings.verification == "linkWithPassword"
        signInPage = settings.verificationLink
        verificationLink = settings.verificationLink ?? "\(context.applicationURL)/verify-email"
        resetLink = settings.resetLink ?? "\(context.applicationURL)/reset-password"
    }

    /// The address, in its one form.
    public func subject(typed: String) throws -> PasswordSubject {
        guard let address = EmailAddress(typed) else {
            throw ProviderError.malformed(field: "email", reason: "is not one plain e-mail address")
        }
        return PasswordSubject(providerUid: address.value, address: address)
    }

    /// The configured page with `token=` in its query.
    public func link(for purpose: PasswordLink, token: String) -> String {
        let page =
            switch purpose {
            case .verification: verificationLink
            case .reset: resetLink
            }
        return page.addingQuery(["token": token])
    }

    /// The address a code is sent to.
    public func target(typed: String) throws -> ChallengeTarget {
        let subject = try subject(typed: typed)
        return ChallengeTarget(providerUid: subject.providerUid, address: .email(subject.address))
    }

    /// The app's own page, where it has one: the server's could sign nobody in to the app.
    public func signInLink(token: String) -> String? {
        signInPage?.addingQuery(["token": token])
    }
}
