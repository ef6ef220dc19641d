internal import Accounts
internal import Administration
internal import ArgumentParser
internal import ProviderKit

extension AccountCommand {
    /// `gatehouse account access`.
    ///
    /// It prints the roles and claims that the account has afterwards. Without any change it only prints them.
    struct Access: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets the roles and claims of an account, and prints them as JSON.",
            discussion: """
                Access tokens carry them from the next one on. With --end-sessions the account's sessions end, so that
                no earlier token is accepted.
                """)
        @OptionGroup var options: Options
        @Option(help: "All roles of the account, separated by commas; \"\" for none.")
        var roles: String?
        @Option(help: "All claims of the account, as a JSON object; {} for none.")
        var claims: String?
        @Flag(help: "Ends all sessions of the account.")
        var endSessions = false

        func run(installed: InstalledProviders) async throws {
            let change = AccessChange(
                roles: roles?.commaSeparated, claims: try claims.map(Self.object), endsSessions: endSessions)
            try await options.select(installed) { account in
                var access = account.dossier.user.access
                if change != AccessChange() {
                    access = try await account.acts.setAccess(
                        change, of: account.uid, by: .ofThisHost, in: account.application)
                }
                print(access.json.text)
            }
        }

        private static func object(_ text: String) throws -> [String: JSONValue] {
            guard let object = JSONValue(json: Array(text.utf8), refusingRepeatedNames: true)?.object else {
                throw ServerError.refusedOption("claims", reason: "is not a JSON object")
            }
            return object
        }
    }
}

extension AccountAccess {
    /// Both members, also those that are empty.
    fileprivate var json: JSONValue {
        ["roles": .array(roles.map { .string($0) }), "claims": .object(claims)]
    }
}

extension String {
    /// The parts between commas; none of an empty text.
    fileprivate var commaSeparated: [String] {
        isEmpty ? [] : split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
