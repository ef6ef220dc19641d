internal import Accounts
internal import Administration
internal import ArgumentParser
internal import ProviderKit
internal import Storage

extension AdminCommand {
    /// `gatehouse admin key`: the keys of programs that call the admin API.
    struct Key: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key", abstract: "Makes, revokes and lists service keys.",
            subcommands: [Create.self, Revoke.self, List.self])

        struct Options: ParsableArguments {
            @OptionGroup var options: ConfigurationOptions

            fileprivate func run(
                _ installed: InstalledProviders, _ body: (ServiceKeys, Backend) async throws -> Void
            ) async throws {
                try await options.withBackend(installed) { backend in
                    guard backend.configuration.admin != nil else { throw ServerError.noAdministration }
                    try await body(ServiceKeys(store: backend.store, limits: nil), backend)
                }
            }
        }

        struct Create: ServerCommand {
            static let configuration = CommandConfiguration(
                abstract: "Makes a service key and prints its secret, which can't be read again.")
            @OptionGroup var options: Options
            @Option(help: "The key's application. Default: the default application.")
            var application: String?
            @Option(help: "What the key is for.")
            var name: String
            @Option(help: "The key's scopes, separated by commas, as in accounts:read,audit:read.")
            var scopes: String
            @Option(help: "How long the key can be used, as in 90d.")
            var expires = "90d"
            @Option(help: "Addresses or ranges from which it may be used, separated by commas. Default: anywhere.")
            var allow: String?

            func run(installed: InstalledProviders) async throws {
                let scopes = try scopes.split(separator: ",").map { name in
                    guard let scope = AdminScope(rawValue: String(name)) else {
                        let all = AdminScope.allCases.filter(\.isForKeys).map(\.rawValue).joined(separator: ", ")
                        throw ServerError.refusedOption("scopes", reason: "have \(name), which is none of \(all)")
                    }
                    return scope
                }
                guard let lifetime = Duration(configured: expires) else {
                    throw ServerError.refusedOption("expires", reason: "must be a duration such as 90d")
                }
                try await options.run(installed) { keys, backend in
                    guard let admin = backend.configuration.admin else { throw ServerError.noAdministration }
                    let made = try await keys.make(
                        named: name, scopes: Set(scopes),
                        clients: allow?.split(separator: ",").map(String.init) ?? [], lifetime: lifetime,
                        longest: admin.serviceKeys.longest, by: .ofThisHost,
                        in: try await backend.application(named: application))
                    print(made.text)
                }
            }
        }

        struct Revoke: ServerCommand {
            static let configuration = CommandConfiguration(
                abstract: "Revokes a service key, on every server at once.")
            @OptionGroup var options: Options
            @Argument(help: "The key's id.")
            var id: String

            func run(installed: InstalledProviders) async throws {
                try await options.run(installed) { keys, backend in
                    let number = ServiceKey.application(ofKey: id)
                    let applications = try await backend.applications(of: backend.configuration)
                    guard let application = applications.first(where: { $0.id == number }) else {
                        throw AdministrationError.notFound("key")
                    }
                    _ = try await keys.revoke(id, by: .ofThisHost, in: application)
                    print("revoked")
                }
            }
        }

        struct List: ServerCommand {
            static let configuration = CommandConfiguration(
                abstract: "Prints the service keys as lines of JSON, without their secrets.")
            @OptionGroup var options: Options
            @Option(help: "An application. Default: all of them.")
            var application: String?

            func run(installed: InstalledProviders) async throws {
                try await options.run(installed) { keys, backend in
                    for application in try await backend.applications(named: application) {
                        for key in try await keys.list(of: application) {
                            print(key.summary(of: application.name).text)
                        }
                    }
                }
            }
        }
    }
}

extension ServiceKey {
    /// A line of `gatehouse admin key list`.
    fileprivate func summary(of application: String) -> JSONValue {
        .members([
            "id": .string(id), "application": .string(application), "name": .string(name),
            "scopes": .array(scopes.sorted().map { .string($0.rawValue) }),
            "allow": .array(clients.map { .string($0) }), "createdAt": .time(createdAt),
            "expiresAt": .time(expiresAt), "revokedAt": revokedAt.map { .time($0) },
            "lastUsedAt": lastUsedAt.map { .time($0) },
        ])
    }
}
