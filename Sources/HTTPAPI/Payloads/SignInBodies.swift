internal import Accounts
internal import ProviderKit

/// The body of a sign-in by password; if `email` or `password` is absent, the error is `MISSING_EMAIL_OR_PASSWORD`.
struct LoginBody: RequestPayload {
    let email: String?
    let password: String?
    /// The ticket from an error `SECOND_PROOF_REQUIRED`, if this sign-in is the second proof.
    let ticket: String?
    let remember: Bool?

    static let fields = RequestFields(
        Self.init, .init("email", .email, isRequired: true), .init("password", .filledText, isRequired: true),
        .init("ticket"), .init("remember", .remember))
}

struct RegistrationBody: RequestPayload {
    let email: String?
    let password: String?
    let displayName: String?

    static let fields = RequestFields(
        Self.init, .init("email", .email, isRequired: true), .init("password", .newPassword, isRequired: true),
        .init("displayName", .displayName))
}

struct MailedTokenBody: RequestPayload {
    let token: String
    /// The registered password; required with `providers.email.verification: linkWithPassword`.
    let password: String?
    let remember: Bool?

    static let fields = RequestFields(Self.init, .init("token"), .init("password"), .init("remember", .remember))
}

struct EmailBody: RequestPayload {
    let email: String

    static let fields = RequestFields(Self.init, .init("email", .email))
}

struct NewPasswordBody: RequestPayload {
    let token: String
    let newPassword: String

    static let fields = RequestFields(Self.init, .init("token"), .init("newPassword", .newPassword))
}

struct PasswordChangeBody: RequestPayload {
    let currentPassword: String?
    let password: String

    static let fields = RequestFields(Self.init, .init("currentPassword"), .init("password", .newPassword))
}

struct OneTimeCodeBody: RequestPayload {
    let challengeId: String
    let code: String
    /// The provider's name; required if several providers of the kind are configured.
    let provider: String?
    let ticket: String?
    let remember: Bool?

    static let fields = RequestFields(
        Self.init, .init("challengeId"), .init("code"), .init("provider"), .init("ticket"),
        .init("remember", .remember))

    var presented: PresentedOneTimeCode { PresentedOneTimeCode(challengeID: challengeId, code: code) }
}

/// The code that a redirect flow ended with.
struct CodeBody: RequestPayload {
    let code: String
    let state: String?
    let redirectURI: String
    let codeVerifier: String?
    let ticket: String?
    let remember: Bool?

    static let fields = RequestFields(
        Self.init, .init("code"), .init("state"), .init("redirect_uri"), .init("codeVerifier"), .init("ticket"),
        .init("remember", .remember))

    var presented: PresentedCode {
        PresentedCode(code: code, state: state, redirectURI: redirectURI, codeVerifier: codeVerifier)
    }
}

/// A proof with the optional ticket from an error `SECOND_PROOF_REQUIRED`.
struct Ticketed<Proof: RequestPayload>: RequestPayload {
    let proof: Proof
    let ticket: String?
    let remember: Bool?

    static var fields: RequestFields<Self> {
        RequestFields(Self.init, .init(flattening: Proof.self), .init("ticket"), .init("remember", .remember))
    }
}

/// An event that a provider has signed.
struct NotificationBody: RequestPayload {
    let payload: String
    /// The provider's name; if absent, the event's audience selects a provider of the kind.
    let provider: String?

    static let fields = RequestFields(Self.init, .init("payload"), .init("provider"))
}

struct RefreshBody: RequestPayload {
    let refreshToken: String

    static let fields = RequestFields(Self.init, .init("refreshToken"))
}

struct LogoutBody: RequestPayload {
    let refreshToken: String?
    let scope: LogoutScope?

    static let fields = RequestFields(Self.init, .init("refreshToken"), .init("scope"))
}

struct RestoreBody: RequestPayload {
    let restoreToken: String
    let remember: Bool?

    static let fields = RequestFields(Self.init, .init("restoreToken"), .init("remember", .remember))
}

/// A provider's credential, and the name of the provider if several of its kind are configured.
struct DirectBody<Credential: RequestPayload>: RequestPayload {
    let provider: String?
    let ticket: String?
    let remember: Bool?
    let credential: Credential

    static var fields: RequestFields<Self> {
        RequestFields(
            Self.init, .init("provider"), .init("ticket"), .init("remember", .remember),
            .init(flattening: Credential.self))
    }
}

/// The address, in the field that the provider's `targetField` names.
struct CodeTargetBody<P: ChallengeProvider>: RequestPayload {
    let target: String
    let provider: String?

    static var fields: RequestFields<Self> {
        let schemas: [String: JSONSchema] = ["email": .email, "phone": .phone]
        return RequestFields(
            Self.init, .init(P.targetField, schemas[P.targetField] ?? .string), .init("provider"))
    }
}
