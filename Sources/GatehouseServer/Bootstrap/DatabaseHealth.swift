internal import HTTPAPI
internal import Migrations
internal import Postgres

/// Reports the server as ready while the database answers and has the schema of this version.
///
/// The database is checked at most once a second, because anyone can call the endpoint.
actor DatabaseHealth: Health {
    private static let freshness: Duration = .seconds(1)

    private let check: @Sendable () async -> Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private var running: Task<Bool, Never>?
    private var latest: (isReady: Bool, at: ContinuousClock.Instant)?

    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, check: @escaping @Sendable () async -> Bool
    ) {
        self.now = now
        self.check = check
    }

    init(database: Database) {
        self.init { (try? await Migrator(database: database, migrations: Migrations.all).isCurrent()) ?? false }
    }

    func isReady() async -> Bool {
        if let running { return await running.value }
        if let latest, latest.at.duration(to: now()) < Self.freshness { return latest.isReady }
        // A separate task, because a cancelled request would otherwise fail the check for all callers that wait for it.
        let running = Task { [check] in
            let isReady = await check()
            finish(isReady)
            return isReady
        }
        self.running = running
        return await running.value
    }

    /// Stores the result of the check, which callers get until `freshness` has passed.
    private func finish(_ isReady: Bool) {
        latest = (isReady, now())
        running = nil
    }
}
