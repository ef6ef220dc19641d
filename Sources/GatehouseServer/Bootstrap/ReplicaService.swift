internal import Accounts
internal import Logging
internal import ServiceLifecycle
internal import Storage
internal import Tokens

/// Applies changes that other replicas announce: ended sessions, changed keys and lifted rate limits.
struct ReplicaService: Service {
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
