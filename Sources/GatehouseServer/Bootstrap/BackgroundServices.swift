internal import Accounts
internal import CMalloc
internal import HTTPAPI
internal import Logging
internal import OpenID
internal import Passwords
internal import ServiceLifecycle
internal import Storage
internal import Synchronization
internal import Tokens

/// Repeats a piece of work until the server shuts down, even if the work fails.
///
/// The length of each pause is random around `interval`, so that replicas that start together do not run the work at
/// the same time.
struct RepeatedService: Service {
    private let interval: @Sendable () -> Duration
    private let startsWithPause: Bool
    private let failures: WorkLog
    private let body: @Sendable () async throws -> Void

    /// `failure` is logged at the first of several consecutive failures.
    init(
        every interval: @autoclosure @escaping @Sendable () -> Duration, startsWithPause: Bool = true,
        failure: Logger.Message, logger: Logger, _ body: @escaping @Sendable () async throws -> Void
    ) {
        self.interval = interval
        self.startsWithPause = startsWithPause
        failures = WorkLog(failure, logger: logger)
        self.body = body
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            if !startsWithPause { await failures.watch(body) }
            while (try? await Task.sleep(for: interval() * Double.random(in: 0.5...1.5))) != nil {
                await failures.watch(body)
            }
        }
    }
}

extension RunningServer {
    /// The services that run beside request handling, in every replica.
    ///
    /// Leases and locks in the database distribute the work.
    func backgroundServices(readiness: AsyncStream<Void>) -> [any Service] {
        [
            ReplicaService(backend: backend, limits: limits), CalibrationService(hasher: hasher, readiness: readiness),
            worker, webhookWorker, revocationWorker, logoutWorker,
        ] + providerServices + erasureServices + auditServices + databaseServices
            + [enablingService, statisticsService, memoryService]
    }

    private var erasureServices: [any Service] {
        let log = ErasureLog(logger: backend.logger)
        return [
            RepeatedService(
                every: .seconds(1), startsWithPause: false, failure: "Erasures wait", logger: backend.logger
            ) { [purge = backend.purge, scopes] in
                // Erases batches without a pause until none is due.
                while case let outcomes = try await purge.eraseBatch(of: scopes.value), !outcomes.isEmpty {
                    for outcome in outcomes { log.report(outcome) }
                }
            },
            RepeatedService(every: scopes.pause, failure: "Idle guests stay for now", logger: backend.logger) {
                [purge = backend.purge, scopes] in
                for scope in scopes.value { log.reportGuests(try await purge.deleteIdleGuests(of: scope), of: scope) }
            },
        ]
    }

    private var databaseServices: [any Service] {
        let logger = backend.logger
        let rows = ExpiredRows(database: backend.database)
        let statistics = PlannerStatistics(database: backend.database)
        let costs = PasswordCostsTable(database: backend.database)
        let waiting = BacklogTable(database: backend.database)
        return [
            RepeatedService(every: .seconds(60), failure: "Expired rows stay for now", logger: logger) {
                _ = try await rows.remove(over: .seconds(60))
            },
            RepeatedService(
                every: .seconds(1), failure: "The planner's statistics stay as they are for now", logger: logger
            ) { try await statistics.refresh() },
            // Unknown addresses use the parameters of the stored hashes, so that sign-ins with unknown and known
            // addresses take equally long, also after the configured parameters were raised.
            RepeatedService(
                every: .seconds(60), failure: "The mix of the passwords' parameters stays as it is for now",
                logger: logger
            ) { [mix] in mix.replace(with: try await costs.read()) },
            RepeatedService(
                every: .seconds(5), startsWithPause: false, failure: "The backlog can't be read for now", logger: logger
            ) { [backlog] in backlog.replace(with: try await waiting.look()) },
            RepeatedService(
                every: .seconds(60), startsWithPause: false, failure: "The session bearers can't be counted for now",
                logger: logger
            ) { [liveBearers] in liveBearers.replace(with: try await waiting.liveBearers()) },
        ]
    }

    /// Enables the accounts that an administrator has disabled until a time.
    private var enablingService: any Service {
        RepeatedService(
            every: .seconds(3), startsWithPause: false, failure: "Accounts stay disabled longer than they should",
            logger: backend.logger
        ) { [store = backend.store] in _ = try await store.enableDueAccounts() }
    }

    /// Returns free memory to the system.
    ///
    /// By itself, glibc keeps what thousands of closed connections used, because some blocks among them are still in
    /// use.
    private var memoryService: any Service {
        RepeatedService(every: .seconds(30), failure: "Free memory is kept for now", logger: backend.logger) {
            // It takes a millisecond, and another one for each megabyte that it returns.
            try await onOwnThread { _ = malloc_trim(0) }
        }
    }
}

/// Ends the calls that wait for other devices when the server shuts down, which would otherwise wait for them.
struct WaitingPages: Service {
    let waiters: HandoffWaiters

    func run() async throws {
        try? await gracefulShutdown()
        waiters.close()
    }
}

/// Logs the outcomes of erasures.
private struct ErasureLog: Sendable {
    let logger: Logger

    func report(_ outcome: Purge.Outcome) {
        var metadata: Logger.Metadata = ["receipt": "\(outcome.erasure.receipt.text)"]
        switch outcome.progress {
        case .success(.void), .success(.waiting): return
        case .success(.erased(let missing)) where missing.isEmpty: logger.info("account erased", metadata: metadata)
        case .success(.erased(let missing)):
            metadata["without"] = "\(missing.map(\.name).joined(separator: ", "))"
            logger.warning("account erased, though some services have not acknowledged it", metadata: metadata)
        case .failure(let error):
            metadata["error"] = "\(error)"
            logger.error("an erasure failed and will be retried", metadata: metadata)
        }
    }

    func reportGuests(_ count: Int, of scope: ErasureScope) {
        guard count > 0 else { return }
        logger.info(
            "idle guests deleted", metadata: ["application": "\(scope.application.name)", "accounts": "\(count)"])
    }
}

/// Measures how fast this machine hashes once the server is ready, so that it does not delay the start.
private struct CalibrationService: Service {
    let hasher: PasswordHasher
    /// Ends when the server is ready.
    let readiness: AsyncStream<Void>

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in readiness {}
            guard !Task.isCancelled else { return }
            await hasher.calibrate()
        }
        // If a service returns, the service group stops the others.
        try? await gracefulShutdown()
    }
}

/// Applies changes that other replicas announce: ended sessions, changed keys and lifted rate limits.
private struct ReplicaService: Service {
    let backend: Backend
    let limits: RateLimiter

    /// Keys are also reloaded at this interval, because a replica that misses a notification must not sign with a
    /// retired key.
    private static let keyReload: Duration = .seconds(60)
    /// The interval while notifications do not arrive, and after a reload that failed, so that tokens of a retired key are
    /// soon refused in any case.
    private static let keyReloadUnannounced: Duration = .seconds(1)

    func run() async throws {
        let reloads = WorkLog("Changed keys are not known for now", logger: backend.logger)
        let reload: @Sendable () async -> Bool = { await reloads.watch { try await backend.keys.reloadAll() } != nil }
        let (keyChanges, limitLifts) = (backend.channel.keyChanges(), backend.channel.limitLifts())
        backend.channel.start()
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                // They listen and sleep independently until the shutdown cancels them.
                group.addTask { await backend.revocations.run() }
                group.addTask {
                    for await _ in keyChanges {
                        // After a minute, a key that can never be read is left to the other reloads.
                        var attempts = 60
                        while attempts > 0, await !reload(),
                            (try? await Task.sleep(for: Self.keyReloadUnannounced)) != nil
                        { attempts -= 1 }
                    }
                }
                group.addTask {
                    while (try? await Task.sleep(for: Self.keyReload)) != nil { _ = await reload() }
                }
                group.addTask {
                    while (try? await Task.sleep(for: Self.keyReloadUnannounced)) != nil {
                        if !backend.channel.isCurrent { _ = await reload() }
                    }
                }
                group.addTask {
                    for await _ in limitLifts { limits.forgetRefusals() }
                }
            }
        }
        backend.channel.stop()
    }
}

/// Logs the first of consecutive failures of repeated work, and the next success.
final class WorkLog: Sendable {
    private let message: Logger.Message
    private let logger: Logger
    private let isFailing = Mutex(false)

    /// `message` is logged at the first of consecutive failures.
    init(_ message: Logger.Message, logger: Logger) {
        self.message = message
        self.logger = logger
    }

    /// Runs the work, and logs if it starts to fail or succeeds again.
    /// - Returns: `nil` if the work failed.
    @discardableResult
    func watch<Output>(_ body: () async throws -> Output) async -> Output? {
        do {
            let result = try await body()
            if replace(with: false) { logger.notice("It works again", metadata: ["failure": "\(message)"]) }
            return result
        } catch {
            guard !Task.isCancelled, !replace(with: true) else { return nil }
            logger.warning(message, metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Stores the state and returns the previous one.
    private func replace(with isFailing: Bool) -> Bool {
        self.isFailing.withLock { state in
            defer { state = isFailing }
            return state
        }
    }
}
