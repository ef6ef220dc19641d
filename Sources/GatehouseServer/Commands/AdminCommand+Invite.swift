internal import Accounts
internal import Administration
internal import ArgumentParser
internal import HTTPAPI
internal import ProviderKit

extension AdminCommand {
    struct Invite: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a link that makes the person who signs in there an administrator, once.",
            discussion: """
                The link works once, and nothing is sent. With --email, only an account of `admin.application` that owns \
                the address can use it.
                """)
        @OptionGroup var options: Options
        @Option(help: "The e-mail address of the person. Default: anybody who has the link.")
        var email: String?
        @Option(help: "The role.")
        var role = AdminScope.Role.owner
        @Option(help: "The application that the role is for, or `all`.")
        var on = "all"
        @Option(help: "How long the link can be used, up to 7d.")
        var expires = "24h"

        func run(installed: InstalledProviders) async throws {
            guard let lifetime = Duration(configured: expires) else {
                throw ServerError.refusedOption("expires", reason: "must be a duration such as 24h")
            }
            try await options.withHome(installed) { backend, home, applications in
                guard let console = backend.configuration.console else { throw ServerError.noConsole }
                let application = try Target.application(on, among: applications)
                let invitation = try NewAdminInvitation(
                    role: role, application: application, email: email, lifetime: lifetime)
                let invitations = AdminInvitations(store: backend.store, opaque: backend.opaque, home: home)
                print(try await invitations.make(invitation, at: console.url, by: .ofThisHost).link)
            }
        }
    }
}
