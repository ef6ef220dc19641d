internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Foundation
internal import OpenID
internal import ProviderKit
internal import Storage

/// `gatehouse client`: the clients that have registered themselves.
struct ClientCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Shows or deletes OpenID clients that have registered themselves.",
        subcommands: [List.self, Show.self, Delete.self])

    struct Options: ParsableArguments {
        @OptionGroup var options: ConfigurationOptions
        @Option(help: "The clients' application. Default: the default application.")
        var application: String?

        fileprivate func select(
            _ installed: InstalledProviders, _ body: (SQLStore, Accounts.Application) async throws -> Void
        ) async throws {
            try await options.withBackend(installed) { backend in
                try await body(backend.store, try await backend.application(named: application))
            }
        }
    }

    struct List: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the registered clients as lines of JSON.",
            discussion: "Installations of apps are not listed; `client show` and `client delete` take their ids, too.")
        @OptionGroup var options: Options

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { store, application in
                for client in try await store.registeredClients(of: application.id) {
                    print(client.summary.text)
                }
            }
        }
    }

    struct Show: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints what is registered of a client as JSON, without its secrets.")
        @OptionGroup var options: Options
        @Argument(help: "The client's id.")
        var id: String

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { store, application in
                guard let client = try await store.storedClient(id, application: application.id) else {
                    throw ServerError.unknownClient(id)
                }
                print(try client.description.indentedText)
            }
        }
    }

    struct Delete: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes a client, which ends its sessions on every server.")
        @OptionGroup var options: Options
        @Argument(help: "The client's id.")
        var id: String

        func run(installed: InstalledProviders) async throws {
            try await options.select(installed) { store, application in
                let details = AdministrativeAct.ofThisHost.details(adding: ["by": "admin"])
                guard
                    try await store.delete(id, registrationToken: nil, recording: details, in: application)
                else { throw ServerError.unknownClient(id) }
                print("deleted")
            }
        }
    }
}

extension StoredClient {
    /// A line of `gatehouse client list`.
    fileprivate var summary: JSONValue {
        let metadata: ClientMetadata? = if case .registered(let metadata) = registration { metadata } else { nil }
        return .members([
            "id": .string(id), "name": metadata?.name.map { .string($0) },
            "redirectURIs": .array((metadata?.redirectURIs ?? []).map { .string($0) }),
            "createdAt": .time(createdAt), "lastUsedAt": lastUsedAt.map { .time($0) },
        ])
    }

    /// The output of `gatehouse client show`.
    fileprivate var description: JSONValue {
        var members: [String: JSONValue?] = [
            "id": .string(id), "issuer": .string(issuer), "createdAt": .time(createdAt),
            "lastUsedAt": lastUsedAt.map { .time($0) },
        ]
        switch registration {
        case .registered(let metadata): members["metadata"] = metadata.json
        case .instance(let instance, let metadata):
            members["software"] = .string(instance.software)
            members["deviceType"] = .string(instance.deviceType)
            members["deviceName"] = instance.deviceName.map { .string($0) }
            members["account"] = instance.account.map { .string($0.text) }
            members["metadata"] = metadata.json
        }
        return .members(members)
    }
}

extension Encodable {
    /// The value as JSON; `nil` if it cannot be encoded.
    fileprivate var json: JSONValue? {
        (try? JSONEncoder.stable.encode(self)).flatMap { JSONValue(json: Array($0)) }
    }
}
