internal import Accounts
internal import Postgres
internal import Synchronization

/// Takes entries of a queue from the applications that have due ones, one application after another.
///
/// A statement that locks rows and skips locked ones can read one application only, because Citus may store the
/// applications on different nodes. An idle queue costs one statement, no matter how many applications there are.
final class ApplicationTurns: Sendable {
    private struct State {
        /// Applications that had due entries and may have more.
        var applications: [(id: Application.ID, name: String)] = []
        var readAt: ContinuousClock.Instant?
    }

    /// How long the list is used while its applications fill lanes; new entries of others may wait that long.
    ///
    /// Citus reads all due entries to select the applications, which is too slow for each poll of a long queue.
    private static let memory: Duration = .seconds(1)

    private let table: ApplicationsTable
    private let due: Statement
    private let state = Mutex(State())

    /// `due` is a statement that selects applications, such as `applicationsWithDueMessages`.
    init(_ due: Statement, database: Database) {
        self.due = due
        table = ApplicationsTable(database: database)
    }

    /// Takes entries until every lane has its number of entries or all applications with due entries had a turn.
    ///
    /// `binds` are those of the statement that selects the applications. Their order is random, so that none waits
    /// until the others have nothing due.
    /// - Throws: the first error of a turn, if no turn took entries.
    func take<Entry: QueueEntry>(
        _ places: [Entry.Lane: Int], dueBy binds: [Bind],
        _ take: (_ application: Application.ID, _ name: String, _ places: [Entry.Lane: Int]) async throws -> [Entry]
    ) async throws -> [Entry] {
        let lanes = places.count
        var places = places
        var taken: [Entry] = []
        var failure: (any Error)?
        var isNewList = false
        // There is a second round at most, with a new list after all applications of the remembered one gave the rest.
        repeat {
            do {
                isNewList = try await renewList(binds)
            } catch {
                failure = failure ?? error
                break
            }
            for application in state.withLock({ $0.applications.shuffled() }) where !places.isEmpty {
                do {
                    let entries = try await take(application.id, application.name, places)
                    for entry in entries {
                        let left = places[entry.lane, default: 0] - 1
                        places[entry.lane] = left > 0 ? left : nil
                    }
                    taken += entries
                    // Once a lane is full, the application may have more entries for it.
                    if places.count == lanes { forget(application.id) }
                } catch {
                    failure = failure ?? error
                }
            }
        } while !isNewList && !places.isEmpty && state.withLock(\.applications.isEmpty)
        if let failure, taken.isEmpty { throw failure }
        return taken
    }

    /// Reads the list if it is empty or too old; returns whether it did.
    private func renewList(_ binds: [Bind]) async throws -> Bool {
        let isUsable = state.withLock { state in
            !state.applications.isEmpty && state.readAt.map { $0 + Self.memory > .now } ?? false
        }
        guard !isUsable else { return false }
        let now = ContinuousClock.now
        let applications = try await table.select(due, binds)
        state.withLock { state in
            state.applications = applications
            state.readAt = now
        }
        return true
    }

    private func forget(_ application: Application.ID) {
        state.withLock { state in state.applications.removeAll { $0.id == application } }
    }
}
