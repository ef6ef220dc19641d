internal import HTTPAPI
internal import Migrations
internal import Postgres

/// Ready while the database answers and its schema is this server's.
///
/// Checks the database at most once a second, because anyone can call the endpoint.
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
        self.init {
            (try? await Migrator(database: database, migrations: Migrations.all).isCurrent()) ?? false
        }
    }

    func isReady() async -> Bool {
        if let running { return await running.value }
        if let latest, latest.at.duration(to: now()) < Self.freshness { return latest.isReady }
        // Not in the caller's task: a client that hangs up must not make the server unready for the others.
        let running = Task { [check] in
            let isReady = await check()
            finish(isReady)
            return isReady
        }
        self.running = running
        return await running.value
    }

    /// Stores the answer.
    ///
    /// It is fresh from now on.
    private func finish(_ isReady: Bool) {
        latest = (isReady, now())
        running = nil
    }
}
