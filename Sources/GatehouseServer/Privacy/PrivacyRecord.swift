internal import Accounts
internal import Foundation
internal import HTTPAPI
internal import OpenID
internal import Passwords

/// The record of processing activities (GDPR, article 30) that follows from a configuration, in Markdown.
///
/// Angle brackets mark information that only the controller has.
struct PrivacyRecord {
    let configuration: Configuration

    var markdown: String {
        ([heading] + configuration.applications.map(section) + [security]).joined(separator: "\n\n") + "\n"
    }

    private var heading: String {
        """
        # Record of processing activities

        GDPR, article 30. Written by `gatehouse privacy-record` from the server's configuration. The controller fills in
        what is between angle brackets.

        | | |
        |---|---|
        | Controller | <name, address, contact> |
        | Representative | <name and contact, or none> |
        | Data protection officer | <name and contact, or none> |
        | Server | \(configuration.server.publicURL.cell) |
        """
    }

    private func section(of application: Configuration.Application) -> String {
        """
        ## Application \(application.name)

        ### Purposes

        - Signing people in, and recognizing that several ways to sign in belong to one person. Legal basis: <contract>
        - Protecting accounts against takeover: limits, locks, notices, the audit. Legal basis: <legitimate interest>
        - Proving that requests of data subjects were met: receipts and certificates of erasure, the erasure ledger.
          Legal basis: <legal obligation>

        ### Categories of data subjects

        People who have an account of \(application.name), or ask for one.

        ### Categories of personal data

        \(table(["of", "data"], categories(of: application)))

        ### Recipients

        \(recipients(of: application))

        ### Transfers to third countries

        <for each recipient outside the EU: country and safeguard, or none>

        ### Retention

        \(table(["what", "how long"], retention(of: application)))
        """
    }

    private func table(_ columns: [String], _ rows: [[String]]) -> String {
        let rule = "|" + String(repeating: "---|", count: columns.count)
        let lines = ([columns] + rows).map { "| \($0.map(\.cell).joined(separator: " | ")) |" }
        return ([lines[0], rule] + lines.dropFirst()).joined(separator: "\n")
    }

    private func categories(of application: Configuration.Application) -> [[String]] {
        [
            [
                "every account",
                "uid, display name, metadata that the application stores, roles and claims, languages, times",
            ],
            ["sessions", "the device's own name, network address, methods and times of authentication"],
            ["audit", "decisions and times, under a pseudonym whose key erasure destroys"],
        ]
            + (application.openID?.software ?? [:]).sorted { $0.key < $1.key }.map { id, software in
                [
                    "installations of \(software.template.name) (\(id))",
                    "kind and name of the device, network address of the last use, times",
                ]
            }
            + application.providersInUse.map { provider in
                ["provider \(provider.name) (\(provider.kind))", Self.data(of: provider)]
            }
    }

    private static func data(of provider: ConfiguredProvider) -> String {
        switch provider.kind {
        case "anonymous": "a random id"
        case "email": "e-mail address, password as an Argon2id hash, one-time codes and tokens as hashes"
        case "phone": "phone number, one-time codes as hashes"
        case "apple": "Apple's id of the person, e-mail address or relay address, name, Apple's tokens (sealed)"
        case "custom-token": "the old system's id of the person; e-mail address and name if its tokens contain them"
        case "mobile-network": "phone number, from the operator"
        default:
            "\(provider.displayName)'s id of the person; e-mail address, name and profile if it provides them; "
                + "its tokens (sealed)"
        }
    }

    private func recipients(of application: Configuration.Application) -> String {
        let rows = configuration.recipients(of: application).map { recipient in
            let hosts = recipient.hosts.isEmpty ? "its own" : recipient.hosts.joined(separator: ", ")
            return [recipient.name, hosts, data(for: recipient, of: application)]
        }
        let all = rows + registeredClients(of: application)
        return all.isEmpty ? "None." : table(["recipient", "hosts", "receives"], all)
    }

    /// Clients that register themselves are not known from the configuration.
    private func registeredClients(of application: Configuration.Application) -> [[String]] {
        guard let settings = application.openID?.registration, settings.mode != .off else { return [] }
        let scopes = settings.scopes.sorted().joined(separator: ", ")
        return [
            [
                "apps that have registered themselves", "their own (`gatehouse client list`)",
                "with the person's consent, what these scopes are for: \(scopes)",
            ]
        ]
    }

    private func data(for recipient: Recipient, of application: Configuration.Application) -> String {
        switch recipient.kind {
        case .webhook:
            "uids and events: "
                + (configuration.webhooks.first { $0.name == recipient.name }?.events ?? []).map(\.rawValue).sorted()
                .joined(separator: ", ")
        case .mailRelay: "e-mail addresses, and the mails to them"
        case .textGateway: "phone numbers, and the text messages to them"
        case .provider: "that the person signs in here; it provides the data above"
        case .client:
            "with the person's consent, what these scopes are for: "
                + (recipient.client.flatMap { application.thirdParty($0) }?.scopes ?? []).sorted()
                .joined(separator: ", ")
        }
    }

    private func retention(of application: Configuration.Application) -> [[String]] {
        let policy = application.policy
        let tokens = policy.tokens
        return [
            ["accounts", "until their deletion, which can be undone for \(policy.deletionGracePeriod.configured)"],
            ["anonymous accounts", "\(application.anonymousRetention.configured) after their last use"],
            [
                "erasure",
                "waits for webhooks at most \(application.erasure.webhookDeadline.configured); "
                    + "uid, times, receipt and certificate stay",
            ],
            [
                "sessions",
                "\(tokens.sessionLifetime.configured) at most, \(tokens.refreshLifetime.configured) without use",
            ],
            ["sessions that have ended", "30d"],
            [
                "merges",
                "can be undone for \(policy.undoWindow.configured), then contain no address; deleted with the account",
            ],
        ] + dialectRetention(of: application) + clientRetention(of: application) + [
            ["events for webhooks", "30d, once they are settled; those of an erasure stay"],
            ["tokens given back to their service", "30d, as name and times only; those of an erasure stay"],
            [
                "ledger of erasures",
                "forever, outside the database, while a backup may bring an account back: uid, receipt, days",
            ],
            ["registrations and reset tokens", "a day"],
            ["one-time codes", "10m"],
            ["messages sent", "7d, their content until they are sent; those given up 30d"],
            ["audit", AuditRetention.events.configured],
        ]
    }

    private func dialectRetention(of application: Configuration.Application) -> [[String]] {
        let dialects = application.dialects
        let sessions = [("immich", dialects.immich?.renewal), ("timetracker", dialects.timeTracker?.renewal)]
        return sessions.compactMap { name, renewal in
            guard let lifetime = renewal?.bearerLifetime else { return nil }
            return [
                "sessions of \(name), with a keyed hash of device and program",
                "\(lifetime.lifetime.configured) at most, \(lifetime.idle.configured) without use",
            ]
        }
    }

    private func clientRetention(of application: Configuration.Application) -> [[String]] {
        guard let settings = application.openID, settings.takesRegistrations else { return [] }
        let software = settings.software.sorted { $0.key < $1.key }.map { id, software in
            [
                "installations of \(id)",
                "until their session ends, or \(software.idle.configured) without use; before the first sign-in "
                    + software.firstLoginWithin.configured,
            ]
        }
        guard settings.registration.mode != .off else { return software }
        return software + [["registered clients", "\(settings.registration.idle.configured) without use"]]
    }

    private var security: String {
        let argon2 = configuration.passwords.argon2
        let pepper = configuration.passwords.pepper == nil ? "" : ", with a pepper outside the database"
        return """
            ## Security measures

            - Passwords: Argon2id, \(argon2.memoryKiB) KiB, \(argon2.iterations) iterations\(pepper)
            - Secrets that must be readable again are encrypted (AES-256-GCM) under a key that the master key encrypts, \
            which is not in the database; all others are stored as hashes
            - Transport: \(transport)
            - Access tokens are signed and end with their session, on every replica within a second
            - Rate limits, locks after repeated failures, the same answers for known and unknown addresses
            - The audit is sealed in a chain under a key outside the database (`gatehouse audit verify`)
            - <physical and organisational measures: hosting, access to servers and backups>
            """
    }

    private var transport: String {
        if configuration.server.tls != nil { return "TLS, ended by the server itself" }
        return configuration.server.development
            ? "plain HTTP is accepted: the server is configured for development"
            : "TLS, ended by trusted proxies; plain HTTP is refused"
    }
}

extension String {
    /// The text escaped for a cell of a Markdown table.
    fileprivate var cell: String { replacing("|", with: "\\|").replacing("\n", with: " ") }
}
