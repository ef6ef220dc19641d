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
                throw ServerError.refusedOption("allow-stranded", reason: "must be 0 or more")
            }
            try await options.withBackend(installed) { backend in
                let modes = ProviderModes(store: backend.store)
                var (stranded, count) = (0, 0)
                for application in try await backend.servedApplications() {
                    let isLeftOut = backend.configuration.application(named: application.name) == nil
                    for change in try await modes.changes(in: application, types: installed.kinds) {
                        let traffic = try await backend.store.transaction(within: .planning) { store in
                            try await store.traffic(of: change.change.provider, application: application.id)
                        }
                        let end = isLeftOut ? "; the file has no \(application.name)" : ""
                        print("\(application.name)/\(change.line(traffic))\(end)")
                        // An earlier file may have left the application out, so its accounts are not counted again.
                        guard !isLeftOut else { continue }
                        stranded += change.effect.stranded
                        count += 1
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
    /// All applications that have been served before; `applications(of:)` would give new ones a number.
    fileprivate func servedApplications() async throws -> [Accounts.Application] {
        try await ApplicationsTable(database: database).all().map { served in
            configuration.application(named: served.name)?.application(id: served.id)
                ?? Accounts.Application(withoutProviders: served.name, id: served.id)
        }
    }
}

extension Accounts.Application {
    /// An application without a way to sign in.
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
