import ServiceLifecycle

/// Looks at the configuration's files each second: a changed one is in force well within the contract's five.
///
/// Polling sees what notifications miss: network volumes, exchanged symbolic links, files that were not there before.
package struct ConfigurationWatcher: Service {
    private let reload: ConfigurationReload
    private let interval: Duration
    private let clock: any Clock<Duration>

    package init(
        _ reload: ConfigurationReload, every interval: Duration = .seconds(1),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.reload = reload
        self.interval = interval
        self.clock = clock
    }

    /// Ends with the server, after the poll that is under way.
    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    try await clock.sleep(for: interval)
                    await reload.poll()
                }
            }
        } catch is CancellationError {}
    }
}
