internal import Accounts
internal import Logging
internal import ServiceLifecycle

/// Erases what is due, and deletes guests whom nobody has heard of, for as long as the server runs.
///
/// Every replica runs it; in the database one takes at a time.
struct ErasureService: Service {
    let purge: Purge
    let scopes: LiveScopes
    let logger: Logger

    private static let tick: Duration = .seconds(1)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await erase() }
                group.addTask { await deleteGuests() }
            }
        }
    }

    /// Batch after batch while there are any: one account at a time, so that sign-ins hardly notice.
    private func erase() async {
        let failure = FailureLog("Erasures wait", logger: logger)
        while !Task.isCancelled {
            let outcomes = await failure.watch { try await purge.eraseBatch(of: scopes.all) } ?? []
            for outcome in outcomes { log(outcome) }
            if !outcomes.isEmpty { continue }
            // Replicas that were started together need not look together.
            guard (try? await Task.sleep(for: Self.tick * Double.random(in: 0.5...1.5))) != nil else { return }
        }
    }

    private func deleteGuests() async {
        let failure = FailureLog("Idle guests stay for now", logger: logger)
        while (try? await Task.sleep(for: scopes.pause * Double.random(in: 0.5...1.5))) != nil {
            await failure.watch {
                for scope in scopes.all {
                    let count = try await purge.deleteIdleGuests(of: scope)
                    guard count > 0 else { continue }
                    logger.info(
                        "idle guests deleted",
                        metadata: ["application": "\(scope.application.name)", "accounts": "\(count)"])
                }
            }
        }
    }

    private func log(_ outcome: Purge.Outcome) {
        var metadata: Logger.Metadata = ["receipt": "\(outcome.erasure.receipt.text)"]
        switch outcome.progress {
        case .success(.void), .success(.waiting): return
        case .success(.erased(let missing)) where missing.isEmpty:
            logger.info("account erased", metadata: metadata)
        case .success(.erased(let missing)):
            metadata["without"] = "\(missing.map(\.name).joined(separator: ", "))"
            logger.warning("account erased, though not everybody has acknowledged it", metadata: metadata)
        case .failure(let error):
            metadata["error"] = "\(error)"
            logger.error("an erasure did not get on; it is taken up again", metadata: metadata)
        }
    }
}
