internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Reloads the configuration when its files have changed.
package actor ConfigurationReload {
    /// Applies the named sections of a configuration to the running server.
    ///
    /// If it throws, the next poll tries again.
    package typealias TakeOver = @Sendable (Configuration, Set<Configuration.Section>) async throws -> Void

    private let path: String
    private let environment: [String: String]
    private let installed: InstalledProviders
    private let logger: Logger
    private let takeOver: TakeOver
    /// What administrators see of the configuration.
    private let live: LiveConfiguration?
    /// The queue that reads files, because a slow volume must not block the cooperative pool.
    private let fileQueue = DispatchQueue(label: "configuration-files")

    private var current: Configuration
    /// The files as the last call of `pollCompleteFiles` found them.
    private var found: [Configuration.Source]
    /// The last reported failure, so that the same problems are reported only once.
    ///
    /// A file with problems is read again at each poll, because the cause may be in another file.
    private var lastFailure: String?
    /// The sections that differ from the running server until it is restarted.
    private var waiting: Set<Configuration.Section> = []

    /// Creates a reload of `configuration`, the one in force, which was loaded with the same path, environment and
    /// kinds.
    package init(
        of configuration: Configuration, path: String, environment: [String: String],
        installed: InstalledProviders, logger: Logger, live: LiveConfiguration? = nil, takeOver: @escaping TakeOver
    ) {
        current = configuration
        found = configuration.sources
        self.path = path
        self.environment = environment
        self.installed = installed
        self.logger = logger
        self.live = live
        self.takeOver = takeOver
    }

    /// Polls if the files are as the last call found them.
    ///
    /// A file that is still being written may be valid as far as it goes, and would close the providers that it lacks.
    func pollCompleteFiles() async {
        let running = current
        let files = await onFileQueue { running.sources.map { Configuration.Source(path: $0.path) } }
        if files == found { await poll() }
        found = files
    }

    /// Loads the configuration and applies it if one of its files has changed since the last load.
    package func poll() async {
        let running = current
        let loaded: Result<Configuration, ConfigurationError>? = await onFileQueue { [path, environment, installed] in
            guard running.sources.contains(where: \.hasChanged) else { return nil }
            return Result { () throws(ConfigurationError) in
                try Configuration.load(path: path, environment: environment, installed: installed, replacing: running)
            }
        }
        switch loaded {
        case .success(let configuration): await replace(running, with: configuration)
        case .failure(let error):
            live?.refuse(error.problems)
            report(error.description)
        case nil:
            live?.forgetRefusal()
            if lastFailure != nil { reportDifference() }
            lastFailure = nil
        }
    }

    private func replace(_ running: Configuration, with loaded: Configuration) async {
        let changed = loaded.sections(differingFrom: running)
        let reloadable = changed.filter(\.isReloadable)
        var next = loaded
        // A section that needs a restart counts as changed until the file agrees with the running server again.
        for section in Configuration.Section.allCases where !section.isReloadable {
            next.fingerprints[section] = running.fingerprints[section]
        }
        do {
            if !reloadable.isEmpty { try await takeOver(next, reloadable) }
        } catch {
            let problem = "could not be taken over; the server's log says why"
            live?.refuse([ConfigurationProblem(file: path, line: nil, path: "", reason: problem)])
            report("\(error)")
            return
        }
        let hadDifference = lastFailure != nil || !waiting.isEmpty
        current = next
        live?.replace(with: next)
        lastFailure = nil
        waiting = changed.subtracting(reloadable)
        if !reloadable.isEmpty {
            logger.notice("configuration taken over", metadata: ["sections": .sections(reloadable)])
            logger.note(next.warnings)
        }
        if !waiting.isEmpty || reloadable.isEmpty && hadDifference { reportDifference() }
    }

    /// Logs the sections that wait for a restart, or that there are none any more.
    private func reportDifference() {
        guard waiting.isEmpty else {
            logger.warning("configuration changed where it needs a restart", metadata: ["sections": .sections(waiting)])
            return
        }
        logger.notice("configuration is the one in force again")
    }

    private func report(_ failure: String) {
        guard failure != lastFailure else { return }
        lastFailure = failure
        let problems = failure.split(separator: "\n").map { Logger.MetadataValue.string(String($0)) }
        logger.error("changed configuration refused, the old one stays", metadata: ["problems": .array(problems)])
    }

    private func onFileQueue<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in fileQueue.async { continuation.resume(returning: work()) } }
    }
}

extension Logger.MetadataValue {
    fileprivate static func sections(_ sections: Set<Configuration.Section>) -> Self {
        .array(sections.map(\.rawValue).sorted().map { .string($0) })
    }
}

/// Polls the configuration's files once a second, and so applies a change one to two seconds after the last write.
///
/// Polling detects changes that file system notifications miss: on network volumes, behind symbolic links, and of files
/// that were missing.
package struct ConfigurationWatcher: Service {
    let reload: ConfigurationReload
    var interval: Duration = .seconds(1)
    var clock: any Clock<Duration> = ContinuousClock()

    /// Polls until shutdown, and finishes the current poll.
    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    try await clock.sleep(for: interval)
                    await reload.pollCompleteFiles()
                }
            }
        } catch is CancellationError {}
    }
}
