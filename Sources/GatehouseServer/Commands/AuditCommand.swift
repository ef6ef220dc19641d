internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Foundation
internal import HTTPAPI
internal import ProviderKit
internal import Storage

/// `gatehouse audit`.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Verifies or exports the audit.", subcommands: [Verify.self, Export.self])

    /// `gatehouse audit verify`: follows the chain from the oldest retained event on.
    struct Verify: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Finds events that were edited, removed or inserted.",
            discussion: """
                With a checkpoint from a server's log it also finds out whether the end of the audit was cut off.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "A checkpoint as servers log it, SEQ:MAC.", transform: { try checkpoint($0) })
        var checkpoint: AuditCheckpoint?

        func run(installed: InstalledProviders) async throws {
            try await options.withBackend(installed) { backend in
                let verification = AuditVerification(
                    store: backend.audit, authentication: backend.auditMAC, time: SystemTime())
                do {
                    print(try await verification.verify(through: checkpoint).line)
                } catch let fault as AuditFault {
                    throw ServerError.auditBroken(fault)
                }
            }
        }

        private static func checkpoint(_ text: String) throws -> AuditCheckpoint {
            guard let checkpoint = AuditCheckpoint(text) else { throw ValidationError("\(text) is not a checkpoint") }
            return checkpoint
        }
    }

    /// `gatehouse audit export`: reads page by page, so that memory use doesn't grow with the number of events.
    struct Export: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Prints events as lines of JSON, by application and time.",
            discussion: "Each application's audit records the export, as its last line.")

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Prints this application's events alone. It need not be configured any more.")
        var application: String?
        @Option(help: "Prints events from this time on, as 2026-01-30T08:00:00Z.", transform: { try time($0) })
        var since: Date?

        private static let page = 1000

        func run(installed: InstalledProviders) async throws {
            try await options.withBackend(installed) { backend in
                let applications = try await backend.audit.auditedApplications()
                    .filter { application == nil || $0.name == application }
                if let application, applications.isEmpty { throw ServerError.unknownApplication(application) }
                let entry = AuditEntry(.auditExported, details: AdministrativeAct.ofThisHost.details)
                for (id, name) in applications {
                    try await backend.store.record(entry, application: id)
                    try await export(id, name: name, from: backend.audit)
                }
            }
        }

        private func export(_ id: Application.ID, name: String, from store: any AuditChainStore) async throws {
            var events: [AuditEvent] = []
            repeat {
                events = try await store.events(
                    of: id, account: nil, since: since, after: events.last, atMost: Self.page)
                for event in events {
                    print(try event.exported(of: name).text)
                }
            } while events.count == Self.page
        }

        private static func time(_ text: String) throws -> Date {
            guard let time = Timestamp(text) else {
                throw ValidationError("\(text) is not a time like 2026-01-30T08:00:00Z")
            }
            return time.date
        }
    }
}

extension AuditReport {
    fileprivate var line: String {
        guard let last else { return "the audit is intact: nothing is sealed yet; events not sealed yet: \(unsealed)" }
        return "the audit is intact: \(events) events in \(batches) batches, up to checkpoint \(last); "
            + "events not sealed yet: \(unsealed)"
    }
}
