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
        /// The application that gave entries last; the next call begins behind it, so that none waits for the others.
        var last: Application.ID = 0
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
    /// `binds` are those of the statement that selects the applications. If a turn fails, returns the entries that were
    /// taken before.
    func take<Entry: QueueEntry>(
        _ places: [Entry.Lane: Int], dueBy binds: [Bind],
        _ take: (_ application: Application.ID, _ name: String, _ places: [Entry.Lane: Int]) async throws -> [Entry]
    ) async throws -> [Entry] {
        let lanes = places.count
        var places = places
        var taken: [Entry] = []
        do {
            var isNewList: Bool
            repeat {
                isNewList = try await renewList(binds)
                for application in inTurn() where !places.isEmpty {
                    let entries = try await take(application.id, application.name, places)
                    for entry in entries {
                        let left = places[entry.lane, default: 0] - 1
                        places[entry.lane] = left > 0 ? left : nil
                    }
                    note(application.id, hasGiven: !entries.isEmpty, mayHaveMore: places.count < lanes)
                    taken += entries
                }
            } while !isNewList && !places.isEmpty && inTurn().isEmpty
        } catch {
            guard !taken.isEmpty else { throw error }
        }
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

    private func inTurn() -> [(id: Application.ID, name: String)] {
        state.withLock { state in
            let next = state.applications.firstIndex { $0.id.rawValue > state.last.rawValue } ?? 0
            return Array(state.applications[next...] + state.applications[..<next])
        }
    }

    /// Notes that an application was asked; once a lane is full, it may have more entries for that lane.
    private func note(_ application: Application.ID, hasGiven: Bool, mayHaveMore: Bool) {
        state.withLock { state in
            if hasGiven { state.last = application }
            if !mayHaveMore { state.applications.removeAll { $0.id == application } }
        }
    }
}
