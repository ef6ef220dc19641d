internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Foundation
internal import HTTPAPI
internal import ProviderKit
internal import Storage

/// `gatehouse account`.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Shows or changes an account.",
        subcommands: [
            Show.self, Disable.self, Enable.self, RequirePasswordChange.self, Access.self, Delete.self, Export.self,
        ])

    struct Options: ParsableArguments {
        @OptionGroup var options: ConfigurationOptions
        @Option(help: "The account's application. Default: the first application that has the account.")
        var application: String?
        @Argument(help: "The account's uid.", transform: UUID.argument)
        var uid: UUID

        /// Selects the account, or the account that it was merged into, and runs the body.
        /// - Throws: `ServerError.unknownAccount`.
        func select(
            _ installed: InstalledProviders, _ body: (SelectedAccount) async throws -> Void
        ) async throws {
            try await options.withBackend(installed) { backend in
                for application in try await backend.applications(named: application) {
                    let isHome = backend.configuration.admin?.application == application.name
                    let acts = AccountActs(store: backend.store, home: isHome ? application.id : nil)
                    guard let dossier = try await acts.dossier(of: uid, in: application) else { continue }
                    return try await body(
                        SelectedAccount(acts: acts, dossier: dossier, application: application, backend: backend))
                }
                throw ServerError.unknownAccount(uid)
            }
        }
    }

    struct SelectedAccount {
        let acts: AccountActs
        let dossier: AccountDossier
        let application: Accounts.Application
        let backend: Backend

        var uid: UUID { dossier.user.uid }

        func setDisabled(_ disabled: Bool) async throws {
            try await acts.setDisabled(disabled, uid: uid, by: .ofThisHost, in: application)
            print(disabled ? "disabled" : "enabled")
        }
    }

    struct Show: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Prints an account as JSON, without its secrets.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { account in
                print(try account.dossier.json(application: account.application.name).indentedText)
            }
        }
    }

    struct Disable: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Ends an account's sessions and refuses new ones.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { try await $0.setDisabled(true) }
        }
    }

    struct Enable: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Lets a disabled account sign in again.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { try await $0.setDisabled(false) }
        }
    }

    struct RequirePasswordChange: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "require-password-change", abstract: "Makes the next login ask for a new password.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { account in
                let (uid, application) = (account.uid, account.application)
                let hasPassword = try await account.acts.requirePasswordChange(
                    uid: uid, by: .ofThisHost, in: application)
                guard hasPassword else { throw ServerError.noPassword(options.uid) }
                print("a new password will be asked for")
            }
        }
    }

    struct Delete: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts the grace period of deletion and prints the receipt.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { account in
                print(try await account.acts.delete(account.uid, by: .ofThisHost, in: account.application).receipt.text)
            }
        }
    }

    struct Export: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Prints everything held about a person as JSON.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { account in
                let (uid, application, backend) = (account.uid, account.application, account.backend)
                let export = AccountExport(store: backend.store, events: backend.audit)
                let configured = backend.configuration.application(named: application.name)
                let recipients = configured.map { backend.configuration.recipients(of: $0) } ?? []
                _ = try await account.acts.beginExport(of: uid, by: .ofThisHost, in: application)
                try await ExportWriter(export: export, recipients: recipients).write(uid, in: application, at: Date()) {
                    try FileHandle.standardOutput.write(contentsOf: Data($0))
                }
            }
        }
    }
}

extension AccountDossier {
    /// The output of `gatehouse account show`.
    fileprivate func json(application: String) -> JSONValue {
        .members([
            "uid": .string(user.uid.text), "application": .string(application),
            "status": purgeAfter != nil ? "deleted" : isDisabled ? "disabled" : "live",
            "purgeAfter": purgeAfter.map { .time($0) }, "email": user.email.map { .string($0) },
            "displayName": user.displayName.map { .string($0) }, "isAnonymous": .bool(user.isAnonymous),
            "metadata": user.metadata, "roles": .array(user.access.roles.map { .string($0) }),
            "claims": .object(user.access.claims), "createdAt": .time(user.createdAt),
            "updatedAt": .time(user.updatedAt),
            "identities": .array(identities.map(\.summary)), "liveSessions": .integer(Int64(liveSessions)),
        ])
    }
}

extension Identity {
    fileprivate var summary: JSONValue {
        .members([
            "id": .string(id.text), "provider": .string(provider), "providerUid": .string(providerUid),
            "email": email.map { .string($0.value) }, "emailVerified": .bool(emailVerified),
            "createdAt": .time(createdAt), "lastUsedAt": lastUsedAt.map { .time($0) },
        ])
    }
}
