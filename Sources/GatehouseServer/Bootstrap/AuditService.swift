internal import Accounts
internal import Logging
internal import ServiceLifecycle
internal import Storage

/// Seals the audit within a second, adds the refusals that were counted, and looks after its months.
struct AuditService: Service {
    let chain: AuditChain
    let partitions: AuditPartitions
    let refusals: RefusalsTable
    let logger: Logger

    private static let interval: Duration = .milliseconds(400)
    private static let refusalsInterval: Duration = .seconds(20)
    private static let partitionInterval: Duration = .seconds(600)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                // Each at its own pace: a month that is slow to be made must not hold up the seal.
                group.addTask { await sealing() }
                group.addTask { await tending() }
                group.addTask { await tallying() }
            }
        }
    }

    private func sealing() async {
        let failure = FailureLog("The audit can't be sealed for now", logger: logger)
        repeat {
            await failure.watch {
                // Whoever keeps the log elsewhere can tell what was cut off here.
                try await chain.sealAll { checkpoint in
                    logger.info("The audit is sealed", metadata: ["checkpoint": "\(checkpoint)"])
                }
            }
            // Replicas that were started together need not look together.
        } while (try? await Task.sleep(for: Self.interval * Double.random(in: 0.5...1.5))) != nil
    }

    private func tallying() async {
        let failure = FailureLog("Refusals that were counted are not in the audit yet", logger: logger)
        repeat {
            await failure.watch { try await refusals.moveToAudit() }
        } while (try? await Task.sleep(for: Self.refusalsInterval * Double.random(in: 0.5...1.5))) != nil
    }

    private func tending() async {
        let failure = FailureLog("The audit's partitions stay as they are for now", logger: logger)
        repeat {
            await failure.watch { try await partitions.tend() }
        } while (try? await Task.sleep(for: Self.partitionInterval * Double.random(in: 0.5...1.5))) != nil
    }
}
