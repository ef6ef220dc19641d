internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Foundation
internal import ProviderKit
internal import Storage

/// `gatehouse admin`: the people and programs that administer.
struct AdminCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Grants and revokes the rights of administrators.",
        subcommands: [Invite.self, Grant.self, Revoke.self, List.self, Key.self])

    struct Options: ParsableArguments {
        @OptionGroup var options: ConfigurationOptions

        /// Runs the body with the grants of the accounts of `admin.application`.
        fileprivate func run(
            _ installed: InstalledProviders,
            _ body: (AdminGrants, [Accounts.Application]) async throws -> Void
        ) async throws {
            try await withHome(installed) { backend, home, applications in
                try await body(AdminGrants(store: backend.store, home: home), applications)
            }
        }

        /// Runs the body with `admin.application` and all applications.
        func withHome(
            _ installed: InstalledProviders,
            _ body: (Backend, _ home: Accounts.Application, [Accounts.Application]) async throws -> Void
        ) async throws {
            try await options.withBackend(installed) { backend in
                let applications = try await backend.applications(of: backend.configuration)
                guard let admin = backend.configuration.admin,
                    let home = applications.first(where: { $0.name == admin.application })
                else { throw ServerError.noAdministration }
                try await body(backend, home, applications)
            }
        }
    }

    /// The account that a grant is for, and the application.
    struct Target: ParsableArguments {
        @Argument(help: "The uid of an account of `admin.application`.", transform: UUID.argument)
        var uid: UUID
        @Option(help: "The application that the role is for, or `all`.")
        var on: String

        /// - Returns: `nil` for all applications.
        /// - Throws: `ServerError.unknownApplication`.
        static func application(_ on: String, among all: [Accounts.Application]) throws -> Accounts.Application? {
            guard on != "all" else { return nil }
            guard let application = all.first(where: { $0.name == on }) else {
                throw ServerError.unknownApplication(on)
            }
            return application
        }
    }

    struct Grant: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Grants a role, in place of the former one for the same application.",
            discussion: """
                An owner may do everything; an operator runs providers, keys and deliveries; support looks after \
                accounts; an auditor reads. Every owner of all applications is told by mail.
                """)
        @OptionGroup var options: Options
        @OptionGroup var target: Target
        @Option(help: "The role.")
        var role: AdminScope.Role

        func run(installed: InstalledProviders) async throws {
            try await options.run(installed) { grants, applications in
                let application = try Target.application(target.on, among: applications)
                let isNew = try await grants.grant(role, to: target.uid, on: application, by: .ofThisHost)
                print(isNew ? "granted" : "unchanged")
            }
        }
    }

    struct Revoke: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Revokes a role.")
        @OptionGroup var options: Options
        @OptionGroup var target: Target

        func run(installed: InstalledProviders) async throws {
            try await options.run(installed) { grants, applications in
                let application = try Target.application(target.on, among: applications)
                try await grants.revoke(target.uid, on: application, by: .ofThisHost)
                print("revoked")
            }
        }
    }

    struct List: ServerCommand {
        static let configuration = CommandConfiguration(abstract: "Prints the grants as lines of JSON.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.run(installed) { grants, applications in
                for grant in try await grants.list() {
                    let on = grant.application.map { id in
                        applications.first { $0.id == id }?.name ?? "application \(id)"
                    }
                    let line = JSONValue.members([
                        "uid": .string(grant.uid.text), "role": .string(grant.role.rawValue),
                        "on": .string(on ?? "all"), "createdAt": .time(grant.createdAt),
                    ])
                    print(line.text)
                }
            }
        }
    }
}

extension AdminScope.Role: ExpressibleByArgument {}
