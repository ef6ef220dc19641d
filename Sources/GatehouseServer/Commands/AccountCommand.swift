internal import Accounts
internal import ArgumentParser
internal import Foundation
internal import HTTPAPI
internal import ProviderKit
internal import Storage

/// `gatehouse account`.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Shows or changes an account.",
        subcommands: [Show.self, Disable.self, Enable.self, RequirePasswordChange.self, Delete.self, Export.self])

    struct Options: ParsableArguments {
        @OptionGroup var options: ConfigurationOptions
        @Option(help: "The account's application. Default: the first application that has the account.")
        var application: String?
        @Argument(help: "The account's uid.", transform: UUID.argument)
        var uid: UUID

        /// Runs the body with the account, or with the account that it was merged into.
        ///
        /// - Throws: `ServerError.unknownAccount`.
        func act(
            _ installed: InstalledProviders,
            _ body: (Administration, AccountDossier, Accounts.Application, Backend) async throws -> Void
        ) async throws {
            try await options.withBackend(installed) { backend in
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
            abstract: "Makes the next login ask for a new password.")
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
            abstract: "Starts the grace period of deletion and prints the receipt.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.act(installed) { administration, dossier, application, _ in
                print(try await administration.delete(dossier.user.uid, in: application).text)
            }
        }
    }

    struct Export: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Prints everything held about a person as JSON.")
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

/// The output of `gatehouse account show`.
private struct DossierPayload: Encodable {
    struct Identity: Encodable {
        let id: String
        let provider: String
        let providerUid: String
        let email: String?
        let emailVerified: Bool
        let createdAt: Timestamp
        let lastUsedAt: Timestamp?
    }

    let uid: String
    let application: String
    let status: String
    let purgeAfter: Timestamp?
    let email: String?
    let displayName: String?
    let isAnonymous: Bool
    let metadata: JSONValue
    let createdAt: Timestamp
    let updatedAt: Timestamp
    let identities: [Identity]
    let liveSessions: Int

    init(_ dossier: AccountDossier, application: String) {
        let user = dossier.user
        uid = user.uid.text
        self.application = application
        status = dossier.purgeAfter != nil ? "deleted" : dossier.isDisabled ? "disabled" : "live"
        purgeAfter = dossier.purgeAfter.map { Timestamp($0) }
        email = user.email
        displayName = user.displayName
        isAnonymous = user.isAnonymous
        metadata = user.metadata
        createdAt = Timestamp(user.createdAt)
        updatedAt = Timestamp(user.updatedAt)
        identities = dossier.identities.map { identity in
            Identity(
                id: identity.id.text, provider: identity.provider, providerUid: identity.providerUid,
                email: identity.email?.value, emailVerified: identity.emailVerified,
                createdAt: Timestamp(identity.createdAt), lastUsedAt: identity.lastUsedAt.map { Timestamp($0) })
        }
        liveSessions = dossier.liveSessions
    }
}
