import Foundation
package import Logging

/// Keeps a configuration in step with its files. One `poll()` is one look at them.
package actor ConfigurationReload {
    /// Takes over what is new in the sections named.
    ///
    /// When it throws, nothing counts as taken over, and the next poll
    /// tries again.
    package typealias TakeOver = @Sendable (Configuration, Set<Configuration.Section>) async throws -> Void

    private let path: String
    private let environment: [String: String]
    private let installed: InstalledProviders
    private let logger: Logger
    private let takeOver: TakeOver
    /// Where files are read: a slow volume must not hold up anything else.
    private let files = DispatchQueue(label: "configuration-files")

    private var current: Configuration
    /// A file that was refused goes on differing from the one in force and is read again at each poll, since what it
    /// lacked may lie outside of it; it is reported only when there is something else to say.
    private var lastFailure: String?

    /// Begins with the configuration in force, as `load` made it of the same path, environment and kinds.
    package init(
        of configuration: Configuration, path: String, environment: [String: String],
        installed: InstalledProviders, logger: Logger, takeOver: @escaping TakeOver
    ) {
        current = configuration
        self.path = path
        self.environment = environment
        self.installed = installed
        self.logger = logger
        self.takeOver = takeOver
    }

    package func poll() async {
        let running = current
        let loaded = await load { [path, environment, installed] in
            guard running.sources.contains(where: \.hasChanged) else { return nil }
            return Result { () throws(ConfigurationError) in
                try Configuration.load(
                    path: path, environment: environment, installed: installed, replacing: running)
            }
        }
        switch loaded {
        case .success(let configuration): await replace(running, with: configuration)
        case .failure(let error): report(error.description)
        case nil: lastFailure = nil
        }
    }

    private func replace(_ running: Configuration, with loaded: Configuration) async {
        let changed = loaded.sections(differingFrom: running)
        let reloadable = changed.filter(\.isReloadable)
        let next = loaded.keepingFingerprints(of: running)
        do {
            if !reloadable.isEmpty { try await takeOver(next, reloadable) }
        } catch {
            report("\(error)")
            return
        }
        current = next
        lastFailure = nil
        if !reloadable.isEmpty {
            logger.notice("configuration taken over", metadata: ["sections": .sections(reloadable)])
        }
        if changed != reloadable {
            let waiting = changed.subtracting(reloadable)
            logger.warning("configuration changed where it needs a restart", metadata: ["sections": .sections(waiting)])
        }
    }

    private func report(_ failure: String) {
        guard failure != lastFailure else { return }
        lastFailure = failure
        let problems = failure.split(separator: "\n").map { Logger.MetadataValue.string(String($0)) }
        logger.error("changed configuration refused, the old one stays", metadata: ["problems": .array(problems)])
    }

    private func load(
        _ work: @escaping @Sendable () -> Result<Configuration, ConfigurationError>?
    ) async -> Result<Configuration, ConfigurationError>? {
        await withCheckedContinuation { continuation in
            files.async { continuation.resume(returning: work()) }
        }
    }
}

extension Configuration {
    /// What needs a restart keeps counting as changed until it says again what the server runs with.
    fileprivate func keepingFingerprints(of running: Configuration) -> Configuration {
        var configuration = self
        for section in Section.allCases where !section.isReloadable {
            configuration.fingerprints[section] = running.fingerprints[section]
        }
        return configuration
    }
}

extension Logger.MetadataValue {
    fileprivate static func sections(_ sections: Set<Configuration.Section>) -> Self {
        .array(sections.map(\.rawValue).sorted().map { .string($0) })
    }
}
