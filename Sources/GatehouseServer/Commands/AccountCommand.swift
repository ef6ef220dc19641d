internal import Accounts
internal import ArgumentParser
internal import Foundation
internal import HTTPAPI
internal import Storage

/// `gatehouse account`.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Looks at an account, or acts on it.",
        subcommands: [Show.self, Disable.self, Enable.self, RequirePasswordChange.self, Delete.self, Export.self])

    struct Options: ParsableArguments {
        @OptionGroup var options: ConfigurationOptions
        @Option(help: "The account's application, where the same uid might be in several.")
        var application: String?
        @Argument(help: "The account's uid.", transform: { try uid($0) })
        var uid: UUID

        private static func uid(_ text: String) throws -> UUID {
            guard let uid = UUID(uuidString: text) else { throw ValidationError("\(text) is no uid") }
            return uid
        }

        /// Finds the account, or the one that has absorbed it, and acts on it.
        /// - Throws: `ServerError.unknownAccount`.
        func act(
            _ installed: InstalledProviders,
            _ body: (Administration, AccountDossier, Accounts.Application, Backend) async throws -> Void
        ) async throws {
            let (_, configuration) = try options.load(installed: installed)
            try await Backend.with(configuration, logger: .forCommands, schema: .current) { backend in
                let administration = Administration(store: backend.store)
                for application in try await backend.applications(named: application) {
                    guard let dossier = try await administration.dossier(of: uid, in: application) else { continue }
                    return try await body(administration, dossier, application, backend)
                }
                throw ServerError.unknownAccount(uid)
            }
        }
    }

    struct Show: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Prints an account as JSON, without its secrets.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.act(installed) { _, dossier, application, _ in
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                let payload = DossierPayload(dossier, application: application.name)
                print(String(decoding: try encoder.encode(payload), as: UTF8.self))
            }
        }
    }

    struct Disable: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Ends an account's sessions and refuses new ones.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.act(installed) { administration, dossier, application, _ in
                try await administration.setDisabled(true, uid: dossier.user.uid, in: application)
                print("disabled")
            }
        }
    }

    struct Enable: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Lets a disabled account sign in again.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.act(installed) { administration, dossier, application, _ in
                try await administration.setDisabled(false, uid: dossier.user.uid, in: application)
                print("enabled")
            }
        }
    }

    struct RequirePasswordChange: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "require-password-change",
            abstract: "Has the person told at the next login that they should change their password.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.act(installed) { administration, dossier, application, _ in
                guard try await administration.requirePasswordChange(uid: dossier.user.uid, in: application) else {
                    throw ServerError.noPassword(options.uid)
                }
                print("a new password will be asked for")
            }
        }
    }

    struct Delete: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts the grace period of deletion, as the person could; prints the receipt.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.act(installed) { administration, dossier, application, _ in
                print(try await administration.delete(dossier.user.uid, in: application).text)
            }
        }
    }

    struct Export: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints everything held about a person as JSON, as they could have it themselves.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.act(installed) { _, dossier, application, backend in
                let export = AccountExport(store: backend.store, events: backend.audit)
                let configured = backend.configuration.application(named: application.name)
                let recipients = configured.map { backend.configuration.recipients(of: $0) } ?? []
                try await export.begin(of: dossier.user.uid, in: application)
                try await ExportWriter(export: export, recipients: recipients)
                    .write(dossier.user.uid, in: application, at: Date()) { bytes in
                        try FileHandle.standardOutput.write(contentsOf: Data(bytes))
                    }
            }
        }
    }
}
