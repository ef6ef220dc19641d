internal import HTTPAPI
internal import Logging
internal import ServiceLifecycle
internal import Storage
internal import Synchronization

/// Looks from time to time at what waits, so that somebody notices when it grows.
final class BacklogService: Service {
    private let table: BacklogTable
    private let logger: Logger
    private let last = Mutex(Backlog())

    init(table: BacklogTable, logger: Logger) {
        self.table = table
        self.logger = logger
    }

    private static let interval: Duration = .seconds(5)

    func run() async throws {
        let failure = FailureLog("Nobody knows what waits", logger: logger)
        await cancelWhenGracefulShutdown { [self] in
            repeat {
                await failure.watch {
                    let backlog = try await table.look()
                    last.withLock { $0 = backlog }
                }
            } while (try? await Task.sleep(for: Self.interval * Double.random(in: 0.5...1.5))) != nil
        }
    }

    var gauges: [MetricsPage.Gauge] {
        [
            .init("audit_unsealed_events", help: "Events of the audit that nothing has sealed yet.") {
                Double(self.last.withLock(\.unsealedEvents))
            },
            .init("erasures_due", help: "Accounts whose grace period is over.") {
                Double(self.last.withLock(\.dueErasures))
            },
            .init("erasures_waiting", help: "Due erasures that wait for webhooks or providers.") {
                Double(self.last.withLock(\.waitingErasures))
            },
        ]
    }
}
