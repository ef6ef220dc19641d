internal import Accounts
internal import Foundation
internal import Passwords
internal import ProviderKit

/// The record of processing activities (GDPR, article 30) as far as a configuration tells it, in Markdown.
///
/// What only the controller knows is left to be filled in, between angle brackets.
struct PrivacyRecord {
    private let configuration: Configuration

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    var markdown: String {
        let parts = [heading] + configuration.applications.map(section) + [security]
        return parts.joined(separator: "\n\n") + "\n"
    }

    private var heading: String {
        """
        # Record of processing activities

        GDPR, article 30. Written by `gatehouse privacy-record` from the server's configuration; what stands between
        angle brackets is for the controller to fill in.

        | | |
        |---|---|
        | Controller | <name, address, contact> |
        | Representative | <name and contact, or none> |
        | Data protection officer | <name and contact, or none> |
        | Server | \(configuration.server.publicURL.cell) |
        """
    }

    // MARK: - One application

    private func section(of application: Configuration.Application) -> String {
        [
            "## Application \(application.name)",
            Self.purposes,
            "### Categories of data subjects\n\nPeople who have an account of \(application.name), or ask for one.",
            categories(of: application),
            recipients(of: application),
            "### Transfers to third countries\n\n<for each recipient outside the EU: country and safeguard, or none>",
            retention(of: application),
        ].joined(separator: "\n\n")
    }

    private static let purposes = """
        ### Purposes

        - Signing people in, and telling which ways of signing in are the same person's. Legal basis: <contract>
        - Keeping accounts from being taken over: limits, locks, notices, the audit. Legal basis: <legitimate interest>
        - Showing that requests of data subjects were met: receipts and certificates of erasure, the erasure ledger.
          Legal basis: <legal obligation>
        """

    private func categories(of application: Configuration.Application) -> String {
        let general = [
            "| every account | uid, display name, metadata that the application keeps, languages, times |",
            "| sessions | device as it names itself, network address, methods and times of authentication |",
            "| audit | decisions and times, under a pseudonym whose key erasure destroys |",
        ]
        let providers = application.providersInUse.map { provider in
            "| provider \(provider.name.cell) (\(provider.kind)) | \(Self.data(of: provider)) |"
        }
        return "### Categories of personal data\n\n| of | data |\n|---|---|\n"
            + (general + providers).joined(separator: "\n")
    }

    private static func data(of provider: ConfiguredProvider) -> String {
        switch provider.kind {
        case "anonymous": "a random id"
        case "email": "e-mail address, password as an Argon2id hash, one-time codes and tokens as hashes"
        case "phone": "phone number, one-time codes as hashes"
        case "apple": "Apple's id of the person, e-mail address or relay address, name, Apple's tokens (sealed)"
        case "custom-token": "the old system's id of the person, e-mail address and name where its tokens say them"
        case "mobile-network": "phone number, as the operator tells it"
        default:
            "\(provider.displayName.cell)'s id of the person, e-mail address, name and profile as it tells them, "
                + "its tokens (sealed)"
        }
    }

    private func recipients(of application: Configuration.Application) -> String {
        let rows = configuration.recipients(of: application).map { recipient in
            let hosts = recipient.hosts.isEmpty ? "its own" : recipient.hosts.joined(separator: ", ")
            return "| \(recipient.name.cell) | \(hosts.cell) | \(told(to: recipient).cell) |"
        }
        guard !rows.isEmpty else { return "### Recipients\n\nNone." }
        return "### Recipients\n\n| recipient | hosts | learns |\n|---|---|---|\n" + rows.joined(separator: "\n")
    }

    private func told(to recipient: Recipient) -> String {
        switch recipient.kind {
        case .webhook:
            "uids, and of what happened to them: "
                + (configuration.webhooks.first { $0.name == recipient.name }?.events.map(\.rawValue).sorted()
                    .joined(separator: ", ") ?? "")
        case .mailRelay: "e-mail addresses, and the mails to them"
        case .textGateway: "phone numbers, and the text messages to them"
        case .provider: "that the person signs in here; it tells what the table above says"
        }
    }

    private func retention(of application: Configuration.Application) -> String {
        let policy = application.policy
        let rows: [(String, String)] = [
            (
                "accounts",
                "until deletion is asked for, then \(policy.deletionGracePeriod.words) in which it can be undone"
            ),
            ("anonymous accounts", "\(application.anonymousRetention.words) after their last use"),
            (
                "erasure",
                "waits for webhooks at most \(application.erasure.webhookDeadline.words); "
                    + "uid, times, receipt and certificate stay"
            ),
            (
                "sessions",
                "\(policy.tokens.sessionLifetime.words) at most, "
                    + "\(policy.tokens.refreshLifetime.words) without being used"
            ),
            ("sessions that have ended", "30d"),
            (
                "merges",
                "can be undone for \(policy.undoWindow.words), after which they tell no address; then as the account"
            ),
            ("events for webhooks", "30d after they were made, once they are settled; those of an erasure stay"),
            ("tokens given back to their service", "30d, by name and times alone; those of an erasure stay"),
            (
                "ledger of erasures",
                "for ever, outside the database, as long as a backup might bring an account back: uid, receipt, days"
            ),
            ("registrations and reset tokens", "a day"),
            ("one-time codes", "10m"),
            ("messages sent", "7d, their content until they are sent; those given up 30d"),
            ("audit", AuditRetention.events.words),
        ]
        return "### Retention\n\n| what | how long |\n|---|---|\n"
            + rows.map { "| \($0.0) | \($0.1) |" }.joined(separator: "\n")
    }

    // MARK: - All of it

    private var security: String {
        let argon2 = configuration.passwords.argon2
        let measures = [
            "Passwords: Argon2id, \(argon2.memoryKiB) KiB, \(argon2.iterations) iterations"
                + (configuration.passwords.pepper == nil ? "" : ", with a pepper outside the database"),
            "Secrets that must be readable again are sealed (AES-256-GCM) under a key that the master key wraps, which "
                + "is not in the database; all others are kept as hashes",
            "Transport: \(transport)",
            "Access tokens are signed and end with their session, on every replica within a second",
            "Rate limits, locks after repeated failures, the same answers for known and unknown addresses",
            "The audit is sealed in a chain under a key outside the database (`gatehouse audit verify`)",
            "<physical and organisational measures: hosting, access to servers and backups>",
        ]
        return "## Security measures\n\n" + measures.map { "- \($0)" }.joined(separator: "\n")
    }

    private var transport: String {
        if configuration.server.tls != nil { return "TLS, ended by the server itself" }
        return configuration.server.development
            ? "plain HTTP is accepted: the server is configured for development"
            : "TLS, ended by trusted proxies; plain HTTP is refused"
    }
}

extension String {
    /// Keeps a table's columns apart.
    fileprivate var cell: String { replacing("|", with: "\\|").replacing("\n", with: " ") }
}

extension Duration {
    /// As configuration has it: the largest unit that fits.
    fileprivate var words: String {
        let seconds = components.seconds
        for (unit, length) in [("d", Int64(86400)), ("h", 3600), ("m", 60)]
        where seconds >= length && seconds.isMultiple(of: length) {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}
