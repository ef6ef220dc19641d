package import Accounts
package import HTTPAPI
package import OpenID
internal import ProviderKit

extension Configuration {
    package struct Application: Sendable {
        package let name: String
        /// In lower case; each host belongs to one application only.
        package let hosts: [String]
        package let audience: String
        /// In the form in which browsers send them.
        package let origins: [String]
        package let redirectURIs: [RedirectURI]
        package let policy: ApplicationPolicy
        package let erasure: Erasure
        /// How long an anonymous account may stay unused.
        package let anonymousRetention: Duration
        /// The URL of the application, which is also the issuer of its tokens; without a trailing slash.
        package let url: String
        package let providers: ProviderRegistry
        /// `nil` if the application is no OpenID provider.
        package let openID: OpenIDSettings?
        package let dialects: DialectSettings

        /// The application as a value of the domain, with its number in the database.
        package func application(id: Accounts.Application.ID) -> Accounts.Application {
            Accounts.Application(
                id: id, name: name, issuer: url, audience: audience, policy: policy,
                redirectURIs: redirectURIs, providers: providers, issuers: openID?.issuers(at: url))
        }
    }

    /// The settings of erasure, which follows the grace period (`ApplicationPolicy.deletionGracePeriod`).
    package struct Erasure: Sendable, Equatable {
        /// The absolute path of the file that every erasure is appended to.
        package var ledger: String?
        /// How long erasure waits for webhooks to acknowledge.
        package var webhookDeadline: Duration = .seconds(72 * 3600)
    }
}

extension Configuration.Application {
    init(
        name: String, _ settings: ApplicationSettings, url: String, providers: ProviderRegistry,
        dialects: DialectSettings, anonymousRetention: Duration?
    ) {
        self.name = name
        self.url = url
        self.providers = providers
        hosts = settings.hosts
        audience = settings.audience ?? name
        origins = settings.origins
        redirectURIs = settings.redirectURIs
        openID = settings.openid?.value()
        self.dialects = dialects
        erasure = .init(ledger: settings.deletion.ledger, webhookDeadline: settings.deletion.webhookDeadline)
        self.anonymousRetention = anonymousRetention ?? settings.anonymous.retention
        var policy = ApplicationPolicy()
        policy.tokens = settings.tokens
        policy.longestClientLifetime = openID?.longestAccessLifetime ?? .zero
        policy.recentAuthentication = settings.recentAuthentication.default
        policy.recentAuthenticationToDelete = settings.recentAuthentication.deletion
        policy.revealExistingIdentities = settings.revealExistingIdentities
        policy.automaticLinking = settings.linking.automatic
        policy.maximumIdentities = settings.linking.maximumIdentities
        policy.undoWindow = settings.linking.undoWindow
        policy.deletionGracePeriod = settings.deletion.gracePeriod
        policy.restoresOnSignIn = settings.deletion.restoreOnSignIn
        policy.switches = settings.console.switches
        policy.access.roles = settings.roles
        policy.access.claimsLimit = settings.claims.largest
        policy.pin = settings.dialects.immich?.pin.value ?? PinRules()
        self.policy = policy
    }
}

/// The settings of an application in the file, without its providers.
struct ApplicationSettings: SettingsSection {
    let audience: String?
    let publicURL: String?
    let hosts: [String]
    let origins: [String]
    let redirectURIs: [RedirectURI]
    let tokens: ApplicationPolicy.Tokens
    let recentAuthentication: RecentAuthentication
    let revealExistingIdentities: Bool
    let linking: Linking
    let deletion: Deletion
    let anonymous: Anonymous
    let console: Console
    let roles: [String]?
    let claims: ClaimsSection
    let openid: OpenIDSection?
    let dialects: DialectsSection

    static let settings = [
        Setting("audience", .text, help: "The audience of the application's tokens. Default: its name."),
        Setting(
            "publicURL", .baseURL,
            help: """
                Where clients reach the application, at one of its `hosts`. It is the issuer of its tokens. Default: \
                the server's URL, followed by `/apps/NAME` unless it is the default application.
                """),
        Setting(
            "hosts", .list(of: .host), default: [],
            help: "Host names that belong to this application. Each may be listed once in the file."),
        Setting(
            "origins", .list(of: .origin), default: [],
            help: """
                Web origins that may call the API from a browser (CORS), besides the application's own address and the \
                server's.
                """),
        Setting(
            "redirectURIs", .list(of: .section(RedirectURI.self)), default: [],
            help: "Where redirect flows may end, compared character by character. A URI alone requires PKCE."),
        Setting("tokens", .section(ApplicationPolicy.Tokens.self), default: [:], help: "Tokens and sessions."),
        Setting(
            "recentAuthentication", .section(RecentAuthentication.self), default: [:],
            help: "How long after authentication sensitive calls are allowed. Later they answer `TOKEN_TOO_OLD`."),
        Setting(
            "revealExistingIdentities", .flag, default: "false",
            help: "Lets registration answer that an address is taken, instead of sending a mail about it."),
        Setting("linking", .section(Linking.self), default: [:], help: "How identities join accounts."),
        Setting("deletion", .section(Deletion.self), default: [:], help: "Overrides the file's `deletion`."),
        Setting("anonymous", .section(Anonymous.self), default: [:], help: "Overrides the file's `anonymous`."),
        Setting("console", .section(Console.self), default: [:], help: "What administrators may change."),
        Setting(
            "roles", .list(of: .role),
            help: """
                The only roles that accounts may have; `gatehouse account access` refuses others. Default: every name of \
                that form.
                """),
        Setting(
            "claims", .section(ClaimsSection.self), default: [:],
            help: "The claims that `gatehouse account access` gives accounts."),
        Setting("openid", .section(OpenIDSection.self), help: "Makes the application an OpenID provider."),
        Setting(
            "dialects", .section(DialectsSection.self), default: [:],
            help: "Interfaces of existing apps, by name. Each is off unless it is named here."),
        Setting("providers", .providers, default: [:], help: "The ways to sign in, by name."),
    ]

    func validate() throws(SettingsError) {
        if let publicURL {
            let host = publicURL.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" }.lowercased()
            let name = host.hasSuffix("]") ? host : String(host.prefix { $0 != ":" })
            guard hosts.contains(host) || hosts.contains(name) else {
                throw SettingsError(setting: "publicURL", reason: "its host must be one of the application's `hosts`")
            }
            guard publicURL.count(where: { $0 == "/" }) == 2 else {
                throw SettingsError(setting: "publicURL", reason: "has a path, below which nothing is served")
            }
        }
        guard recentAuthentication.deletion != nil || deletion.gracePeriod >= RecentAuthentication.leastGracePeriod
        else {
            throw SettingsError(
                setting: "recentAuthentication",
                reason: "deletion: off needs a deletion.gracePeriod of at least 7d, in which it can be undone")
        }
    }

    struct RecentAuthentication: SettingsSection {
        /// A deletion without a recent authentication must be possible to undo for this long.
        static let leastGracePeriod: Duration = .seconds(7 * 86400)

        let `default`: Duration
        /// `nil` allows the deletion of the account at any time.
        let deletion: Duration?

        static let shorthand: [(key: String, text: String?)] = [("default", nil)]
        static let settings = [
            Setting("default", .duration, default: "5m", help: "For all sensitive calls."),
            Setting(
                "deletion", .durationOrOff, derived: { $0["default"]?.content },
                help: """
                    For `DELETE /auth/account`. `off` allows it at any time, and needs a `deletion.gracePeriod` of at \
                    least 7 days. Default: `default`.
                    """),
        ]
    }

    struct Linking: SettingsSection {
        let automatic: ApplicationPolicy.AutomaticLinking
        let maximumIdentities: Int
        let undoWindow: Duration

        static let settings = [
            Setting(
                "automatic", .choice([ApplicationPolicy.AutomaticLinking.verified, .never]), default: "verified",
                help: "Whether a new identity with a verified address joins the account that owns the address."),
            Setting(
                "maximumIdentities", .integer(1...1000), default: "50",
                help: "The maximum number of identities of an account. A further one answers `LIMIT_REACHED`."),
            Setting("undoWindow", .duration, default: "7d", help: "How long a merge can be undone."),
        ]
    }

    struct Deletion: SettingsSection {
        let gracePeriod: Duration
        let restoreOnSignIn: Bool
        let ledger: String?
        let webhookDeadline: Duration

        static let settings = [
            Setting("gracePeriod", .duration, default: "30d", help: "How long a deleted account can be restored."),
            Setting(
                "restoreOnSignIn", .flag, default: "false",
                help: """
                    Whether a sign-in restores a deleted account, whose owner gets a mail, instead of answering \
                    `ACCOUNT_DELETED` with a token to restore it.
                    """),
            Setting(
                "ledger", .path,
                help: """
                    A file that each erasure is appended to. All servers share it, and it belongs in no backup of the \
                    database: after a restore, accounts that were erased are erased again from it.
                    """),
            Setting(
                "webhookDeadline", .duration, default: "3d",
                help: "How long erasure waits for webhooks to acknowledge `account.deleted`."),
        ]
    }

    struct Anonymous: SettingsSection {
        let retention: Duration

        static let settings = [
            Setting(
                "retention", .positiveDuration, default: "30d",
                help: "How long a guest account may stay unused before it is deleted.")
        ]
    }
}

extension RedirectURI: SettingsSection {
    static let settings = [
        Setting("pkce", .flag, default: "true", help: "Requires a code challenge (RFC 7636)."),
        Setting("uri", .absoluteURI, required: true, help: "The URI."),
    ]

    static var shorthand: [(key: String, text: String?)] { [("uri", nil)] }

    package init(from decoder: any Decoder) throws {
        let settings = try decoder.container(keyedBy: SettingName.self)
        self.init(
            uri: try settings.decode(String.self, forKey: "uri"),
            requiresPKCE: try settings.decode(Bool.self, forKey: "pkce"))
    }
}
