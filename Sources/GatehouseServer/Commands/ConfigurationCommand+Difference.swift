internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Storage

extension ConfigurationCommand {
    /// `gatehouse config diff`: counts what the modes of a new configuration do to accounts.
    struct Difference: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "Prints which modes of providers a file changes, and how many accounts that strands.",
            discussion: """
                The modes are compared with those of the configuration that was last served with the file's database.
                The command changes nothing, and fails if more accounts than allowed could not sign in any more.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "How many accounts may have no way to sign in after the changes.")
        var allowStranded = 0

        func run(installed: InstalledProviders) async throws {
            guard allowStranded >= 0 else {
                throw ServerError.refusedOption("allow-stranded", reason: "is a number of accounts")
            }
            try await options.withBackend(installed) { backend in
                let modes = ProviderModes(store: backend.store)
                var (stranded, count) = (0, 0)
                func changes(in application: Accounts.Application) async throws -> [(line: String, stranded: Int)] {
                    var changes: [(String, Int)] = []
                    for change in try await modes.changes(in: application, types: installed.kinds) {
                        let traffic = try await backend.store.transaction(within: .planning) { store in
                            try await store.traffic(of: change.change.provider, application: application.id)
                        }
                        changes.append(("\(application.name)/\(change.line(traffic))", change.effect.stranded))
                    }
                    return changes
                }
                let (configured, leftOut) = try await backend.servedApplications()
                for application in configured {
                    for change in try await changes(in: application) {
                        print(change.line)
                        stranded += change.stranded
                        count += 1
                    }
                }
                // They do not count: they may have been left out for long, which the database does not know.
                for application in leftOut {
                    for change in try await changes(in: application) {
                        print("\(change.line); the file has no \(application.name)")
                    }
                }
                if count == 0 { print("no mode of a provider changes") }
                guard stranded <= allowStranded else {
                    throw ServerError.strands(stranded, allowed: allowStranded)
                }
            }
        }
    }
}

extension Backend {
    /// The applications that have been served before: those of the configuration, and others, which nobody can sign in to
    /// any more; `applications(of:)` would give new ones a number.
    fileprivate func servedApplications() async throws -> (
        configured: [Accounts.Application], leftOut: [Accounts.Application]
    ) {
        let known = try await ApplicationsTable(database: database).all()
        let configured = configuration.applications.compactMap { configured in
            known.first { $0.name == configured.name }.map { configured.application(id: $0.id) }
        }
        let leftOut = known.filter { configuration.application(named: $0.name) == nil }
        return (configured, leftOut.map { Accounts.Application(withoutProviders: $0.name, id: $0.id) })
    }
}

extension Accounts.Application {
    /// An application that nobody can sign in to any more.
    fileprivate convenience init(withoutProviders name: String, id: ID) {
        self.init(
            id: id, name: name, issuer: "", audience: name, policy: ApplicationPolicy(),
            providers: ProviderRegistry(installedKinds: [], configured: []))
    }
}

extension ProviderModes.Change {
    fileprivate func line(_ traffic: ProviderTraffic) -> String {
        let counts: KeyValuePairs = [
            "identities": effect.identities, "accounts": effect.accounts, "stranded": effect.stranded,
            "detour": effect.detour, "unaffected": effect.unaffected, "inGrace": effect.inGrace,
            "sessions": traffic.sessions, "signIns7d": traffic.recentSignIns,
        ]
        return "\(change.provider) \(change.from.rawValue) -> \(change.to.rawValue): "
            + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
