internal import Postgres
internal import Synchronization

/// Notifies the workers of all replicas that something was queued.
///
/// PostgreSQL commits transactions that notify one at a time, each after the previous one has reached the disk, which
/// halved the rate of links. The notification is therefore sent by itself, shortly after the commit, once for all that
/// was queued in between. If this process ends before, the workers find the entries at their next tick.
final class OutboxArrivals: Sendable {
    /// How long a notification waits for others, which is short compared to a delivery.
    private static let pause: Duration = .milliseconds(10)

    private let database: Database
    private let isScheduled = Atomic(false)

    init(database: Database) { self.database = database }

    /// A lost notification does no harm, so the commit does not wait for the disk.
    private static let notify = Statement(
        .write, "SELECT set_config('synchronous_commit', 'off', true), pg_notify('gatehouse', 'outbox')")

    func announce() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // An unstructured task, because the caller must not wait for it.
        Task {
            try? await Task.sleep(for: Self.pause)
            isScheduled.store(false, ordering: .releasing)
            _ = try? await database.execute(Self.notify)
        }
    }
}
