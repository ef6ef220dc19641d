package import Accounts
package import Administration
internal import Delivery
internal import Passwords
internal import ProviderKit

/// The server's configuration, checked as a whole.
///
/// A reload creates a new value.
///
/// `settings` declares the sections of the file; each section declares its own keys. `SettingsReader` checks a file
/// against these declarations, and `SettingsDecoder` creates the values. `docs/configuration.md` is the reference.
package struct Configuration: SettingsSection {
    package var server: Server
    package var database: Database
    package var secrets: Secrets
    package var network: Network
    package var passwords: Passwords
    package var rateLimits: RatePolicy
    package var delivery: Delivery
    package var webhooks: [Webhook]
    package var admin: Administration?
    package var defaultApplication: String?
    /// The applications in the order of the file.
    package var applications: [Application] = []

    /// All files that the configuration was read from: the configuration file itself, then the files that it refers to.
    ///
    /// Directories that were searched for files are among them.
    package internal(set) var sources: [Source] = []
    /// Every key with its value, as administrators see it.
    package internal(set) var values: [ConfigurationValue] = []
    /// Settings that are valid but probably a mistake, in the order in which they were found.
    package internal(set) var warnings: [ConfigurationProblem] = []
    /// A hash of each section's text, which shows whether the section has changed.
    var fingerprints: [Section: Int] = [:]

    private enum CodingKeys: CodingKey {
        case server, database, secrets, network, passwords, rateLimits, delivery, webhooks, admin, defaultApplication
    }

    static let settings = [
        Setting("server", .section(Server.self), default: [:], help: "Where the server listens."),
        Setting(
            "database", .section(Database.self), default: [:], help: "The PostgreSQL database, version 14 or newer."),
        Setting("secrets", .section(Secrets.self), default: [:], help: "The master key."),
        Setting("network", .section(Network.self), default: [:], help: "Calls to other servers."),
        Setting("passwords", .section(Passwords.self), default: [:], help: "Password rules and hashing."),
        Setting(
            "rateLimits", RatePolicy.form, default: [:],
            help: """
                Limits by client or by target; `off` lifts all of them. A client is an IPv4 address or an IPv6 /64; \
                the /24 or /48 around it has sixteen times the rate.
                """),
        Setting("delivery", .section(Delivery.self), default: [:], help: "Mail and text messages."),
        Setting(
            "webhooks", .list(of: .section(Webhook.self)), default: [],
            help: "Services that are told what happens to accounts."),
        Setting("admin", .section(Administration.self), help: "The admin API. Without this section there is none."),
        Setting("defaultApplication", .text, help: "The application that is served at the public URL itself."),
        Setting(
            "deletion", .section(ApplicationSettings.Deletion.self, isShared: true), default: [:],
            help: "Defaults of the applications' `deletion`."),
        Setting(
            "anonymous", .section(ApplicationSettings.Anonymous.self, isShared: true), default: [:],
            help: "Defaults of the applications' `anonymous`."),
        Setting(
            "applications",
            .named(ApplicationSettings.settings) { _, node, reader in
                reader.section(node, as: ApplicationSettings.self)
            }, required: true, help: "The applications, by name."),
    ]

    package func application(named name: String) -> Application? { applications.first { $0.name == name } }

    /// The longest lifetime of an access token in any application.
    var longestAccessLifetime: Duration { applications.map(\.policy.longestAccessLifetime).max() ?? .zero }
}

extension Configuration {
    /// A part of the file that is reloaded as a unit.
    package enum Section: String, Sendable, CaseIterable {
        case server, database, secrets, network, passwords, rateLimits, delivery, webhooks, admin, defaultApplication
        case applications

        /// Whether a reload applies changes of this section; sockets, pools and keys change only at the next start.
        package var isReloadable: Bool {
            switch self {
            case .applications, .rateLimits, .delivery, .webhooks, .admin: true
            case .server, .database, .secrets, .network, .passwords, .defaultApplication: false
            }
        }

        /// The section that a top-level key belongs to; `deletion` and `anonymous` are defaults of the applications.
        package init?(key: String) {
            self.init(rawValue: ["deletion", "anonymous"].contains(key) ? Self.applications.rawValue : key)
        }
    }

    /// A file or directory that the configuration was read from, and its state at that time.
    package struct Source: Sendable, Equatable {
        package let path: String
        private let stamp: FileStamp?

        init(path: String) {
            self.path = path
            stamp = FileStamp(of: path)
        }

        /// Whether the file was written, replaced or removed after it was read.
        ///
        /// It is always `false` for pipes and devices, which have no state to compare.
        var hasChanged: Bool { stamp != nil && FileStamp(of: path) != stamp }
    }

    func sections(differingFrom other: Configuration) -> Set<Section> {
        Set(Section.allCases.filter { fingerprints[$0] != other.fingerprints[$0] })
    }

    /// Replaces the sections that a reload can't change by those of the running server.
    mutating func keepUnreloadable(of running: Configuration) {
        server = running.server
        database = running.database
        secrets = running.secrets
        network = running.network
        passwords = running.passwords
        defaultApplication = running.defaultApplication
        values = values.filter(\.isReloadable) + running.values.filter { !$0.isReloadable }
    }
}
