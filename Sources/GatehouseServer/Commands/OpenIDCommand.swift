internal import Accounts
internal import ArgumentParser
internal import Foundation
internal import OpenID
internal import ProviderKit
internal import Tokens

/// `gatehouse openid`.
struct OpenIDCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openid", abstract: "Helps to configure the OpenID provider.", subcommands: [Statement.self])

    /// `gatehouse openid statement`: describes configured software, for `software.ID.statements`.
    struct Statement: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a software statement (RFC 7591) for configured software.",
            discussion: """
                Put it into the app, and list it in the configuration, in `software.ID.statements`. It describes the \
                software as it is configured now and stays valid until it is removed there. The file that is listed there \
                need not exist yet.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "The software's application. Default: the default application.")
        var application: String?
        @Argument(help: "The software's id in the configuration.")
        var software: String

        func run(installed: InstalledProviders) async throws {
            try await options.withBackend(installed, ignoringStatements: true) { backend in
                let application = try await backend.application(named: application)
                guard let settings = backend.configuration.application(named: application.name)?.openID,
                    let configured = settings.software[software]
                else { throw ServerError.unknownSoftware(software) }
                try await backend.keys.prepare(application, for: [.accessTokens, .identityTokens])
                let statement = configured.statement(id: software, issuer: application.issuer, at: SystemTime().now())
                print(
                    try await ApplicationJWTCodec(keys: backend.keys)
                        .sign(statement, as: .softwareStatement, for: application))
            }
        }
    }
}
