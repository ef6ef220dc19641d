internal import Accounts
internal import Logging
internal import OpenID
internal import ServiceLifecycle
internal import Storage
internal import Tokens

extension RunningServer {
    /// Seals the audit, and writes the events that count what happened in a minute.
    var auditServices: [any Service] {
        let logger = backend.logger
        let partitions = AuditPartitions(database: backend.database)
        let refusals = RefusalsTable(database: backend.database)
        return [
            RepeatedService(
                every: .milliseconds(400), startsWithPause: false, failure: "The audit can't be sealed for now",
                logger: logger
            ) { [backend] in try await backend.sealAudit() },
            RepeatedService(
                every: .seconds(20), startsWithPause: false,
                failure: "Refusals that were counted are not in the audit yet", logger: logger
            ) { try await refusals.moveToAudit() },
            RepeatedService(
                every: .seconds(20), failure: "Introspections that were counted are not in the audit yet",
                logger: logger
            ) { [introspections] in try await introspections.moveToAudit() },
            RepeatedService(
                every: .seconds(600), startsWithPause: false,
                failure: "The audit's partitions stay as they are for now", logger: logger
            ) { try await partitions.tend() },
        ]
    }

    /// Writes what was counted in memory, at the end of the server.
    func endAudit() async {
        let failures = WorkLog("Introspections that were counted are lost", logger: backend.logger)
        await failures.watch {
            if try await introspections.moveToAudit(includingCurrentMinute: true) { try await backend.sealAudit() }
        }
    }
}

extension Backend {
    fileprivate func sealAudit() async throws {
        let chain = AuditChain(store: audit, authentication: auditMAC, time: SystemTime())
        // Checkpoints in the log show later whether the end of the audit was cut off.
        try await chain.sealAll { checkpoint in
            logger.info("The audit is sealed", metadata: ["checkpoint": "\(checkpoint)"])
        }
    }
}
