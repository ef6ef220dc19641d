internal import Accounts
internal import CMalloc
internal import Logging
internal import Passwords
internal import ServiceLifecycle
internal import Storage

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
