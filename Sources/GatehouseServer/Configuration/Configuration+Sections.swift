extension Configuration {
    /// The parts of a file that a running server takes over, or doesn't.
    package enum Section: String, Sendable, CaseIterable {
        case server, database, secrets, network, passwords, rateLimits, delivery, webhooks, defaultApplication
        case applications

        /// What hangs on a socket, a pool or a key stays as it is until the next start.
        package var isReloadable: Bool {
            switch self {
            case .applications, .rateLimits, .delivery, .webhooks: true
            case .server, .database, .secrets, .network, .passwords, .defaultApplication: false
            }
        }

        /// `deletion` and `anonymous` at the top are defaults of the applications.
        static let applicationDefaults = ["deletion", "anonymous"]

        init?(key: String) {
            if Self.applicationDefaults.contains(key) {
                self = .applications
            } else {
                self.init(rawValue: key)
            }
        }
    }

    /// A file that the configuration was read from, and its state when it was.
    package struct Source: Sendable, Equatable {
        package let path: String
        let stamp: FileStamp?

        /// It has been written, replaced or removed since.
        ///
        /// What never had a state, like a pipe, doesn't change.
        var hasChanged: Bool {
            stamp != nil && FileStamp(of: path) != stamp
        }
    }

    /// The sections that say something else than in another configuration.
    func sections(differingFrom other: Configuration) -> Set<Section> {
        Set(Section.allCases.filter { fingerprints[$0] != other.fingerprints[$0] })
    }

    static func fingerprints(
        of root: ConfigurationNode, secretFiles: [ConfigurationReading.SecretFile]
    ) -> [Section: Int] {
        var hashers: [Section: Hasher] = [:]
        if case .table(let entries) = root.content {
            for entry in entries {
                guard let section = Section(key: entry.key) else { continue }
                hashers[section, default: Hasher()].combine(entry.key)
                hashers[section, default: Hasher()].combine(entry.value)
            }
        }
        for file in secretFiles {
            guard let section = file.section else { continue }
            hashers[section, default: Hasher()].combine(file.content)
        }
        return hashers.mapValues { $0.finalize() }
    }
}
