internal import Accounts
internal import ArgumentParser
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import Storage

/// `gatehouse audit`.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Checks the audit, or reads it.", subcommands: [Verify.self, Export.self])

    /// `gatehouse audit verify`: follows the chain from its beginning, or from what retention has left of it.
    struct Verify: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Finds events that were edited, removed or inserted.",
            discussion: """
                A checkpoint, as running servers log them, shows in addition whether the end of the audit was cut off.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "SEQ:MAC, as a server has logged it.", transform: { try checkpoint($0) })
        var checkpoint: AuditCheckpoint?

        func run(installed: InstalledProviders) async throws {
            let (_, configuration) = try options.load(installed: installed)
            try await Backend.with(configuration, logger: .forCommands, schema: .current) { backend in
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
            guard let checkpoint = AuditCheckpoint(text) else { throw ValidationError("\(text) is no checkpoint") }
            return checkpoint
        }
    }

    /// `gatehouse audit export`: page by page, so that it takes no more memory for a year than for a day.
    struct Export: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Prints events as lines of JSON, those of each application by time.")

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Only this application's, be it one that is not configured any more.")
        var application: String?
        @Option(help: "Only events from then on: 2026-01-30T08:00:00Z.", transform: { try time($0) })
        var since: Date?

        private static let page = 1000

        func run(installed: InstalledProviders) async throws {
            let (_, configuration) = try options.load(installed: installed)
            try await Backend.with(configuration, logger: .forCommands, schema: .current) { backend in
                let applications = try await backend.audit.auditedApplications()
                    .filter { application == nil || $0.name == application }
                if let application, applications.isEmpty { throw ServerError.unknownApplication(application) }
                for (id, name) in applications {
                    try await export(id, name: name, from: backend.audit)
                }
            }
        }

        private func export(_ id: Application.ID, name: String, from store: any AuditChainStore) async throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            var events: [AuditEvent] = []
            repeat {
                events = try await store.events(
                    of: id, account: nil, since: since, after: events.last, atMost: Self.page)
                for event in events {
                    print(String(decoding: try encoder.encode(AuditLine(event, application: name)), as: UTF8.self))
                }
            } while events.count == Self.page
        }

        private static func time(_ text: String) throws -> Date {
            guard let time = Timestamp(text) else {
                throw ValidationError("\(text) is no time like 2026-01-30T08:00:00Z")
            }
            return time.date
        }
    }
}

extension AuditReport {
    fileprivate var line: String {
        guard let last else { return "the audit is intact: nothing is sealed yet, \(unsealed) events are not" }
        return "the audit is intact: \(events) events in \(batches) batches, up to checkpoint \(last); "
            + "\(unsealed) events are not sealed yet"
    }
}
