internal import Accounts
internal import HTTPAPI
internal import OpenID
internal import ProviderKit

/// The dialects of an application in the file.
struct DialectsSection: SettingsSection {
    let immich: ImmichSection?
    let timetracker: TimeTrackerSection?

    static let settings = [
        Setting(
            "immich", .section(ImmichSection.self),
            help: "The interface of the photo apps of Immich, below `/api` (docs/dialects.md)."),
        Setting(
            "timetracker", .section(TimeTrackerSection.self),
            help: "The interface of the time tracking apps, at `/auth/login` and beside it (docs/dialects.md)."),
    ]
}

/// The dialect `timetracker` in the file.
struct TimeTrackerSection: SettingsSection {
    let provider: String?
    let redirectURI: String?
    let session: DialectSessionSection

    static let settings = [
        Setting(
            "provider", .text,
            help: """
                The provider at whose pages people sign in, or `hosted` for the application's own pages. Default: the \
                first one with pages that is on.
                """),
        Setting(
            "redirectURI", .absoluteURI,
            help: """
                The only redirect URI that the app may name. Default: all `redirectURIs` with `pkce: false`, which it \
                must be one of, because the app sends no code challenge.
                """),
        Setting(
            "session", .section(DialectSessionSection.self), default: "access",
            help: "How long people stay signed in: until the access token ends, or with `idle` and `lifetime`."),
    ]
}

/// How long the sessions of a dialect's clients last, which know no refresh tokens.
struct DialectSessionSection: SettingsSection {
    let kind: String?
    let idle: Duration?
    let lifetime: Duration?

    static let settings = [
        Setting("kind", .choice(["access"]), help: "`access`: sessions end with their access token."),
        Setting("idle", .positiveDuration, help: "How long the token of a session may stay unused."),
        Setting("lifetime", .positiveDuration, help: "The longest a session can last."),
    ]

    static var shorthand: [(key: String, text: String?)] { [("kind", nil)] }

    func validate() throws(SettingsError) {
        guard kind == nil else {
            guard idle == nil, lifetime == nil else {
                throw SettingsError(setting: "kind", reason: "`access` goes with neither `idle` nor `lifetime`")
            }
            return
        }
        guard let idle, let lifetime else {
            throw SettingsError(setting: idle == nil ? "idle" : "lifetime", reason: "is required unless it is `access`")
        }
        guard idle <= lifetime else { throw SettingsError(setting: "idle", reason: "is longer than `lifetime`") }
    }

    var renewal: Renewal {
        guard let idle, let lifetime else { return .none }
        return .bearer(BearerLifetime(idle: idle, lifetime: lifetime))
    }
}
