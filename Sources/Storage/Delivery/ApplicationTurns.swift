internal import Accounts
internal import Postgres
internal import Synchronization

/// Takes entries of a queue from one application after another.
///
/// A statement that locks rows and skips locked ones can read one application only, because Citus may store the
/// applications on different nodes. The first application changes with each call, so that none waits for the others.
final class ApplicationTurns: Sendable {
    private struct State {
        var applications: [(id: Application.ID, name: String)] = []
        var readAt: ContinuousClock.Instant?
        var turn = 0
    }

    /// How long the list of applications is used; a new application's first entries may wait that long.
    private static let memory: Duration = .seconds(1)

    private let table: ApplicationsTable
    private let state = Mutex(State())

    init(database: Database) {
        table = ApplicationsTable(database: database)
    }

    /// Takes entries until every lane has its number of entries or all applications had a turn.
    ///
    /// If an application's turn fails, returns the entries that were taken before.
    func take<Entry: QueueEntry>(
        _ places: [Entry.Lane: Int],
        _ take: (_ application: Application.ID, _ name: String, _ places: [Entry.Lane: Int]) async throws -> [Entry]
    ) async throws -> [Entry] {
        var places = places
        var taken: [Entry] = []
        for application in try await inTurn() where !places.isEmpty {
            do {
                let entries = try await take(application.id, application.name, places)
                for entry in entries {
                    let left = places[entry.lane, default: 0] - 1
                    places[entry.lane] = left > 0 ? left : nil
                }
                taken += entries
            } catch {
                guard !taken.isEmpty else { throw error }
                break
            }
        }
        return taken
    }

    /// All applications, the first of which is another one at each call.
    private func inTurn() async throws -> [(id: Application.ID, name: String)] {
        let isKnown = state.withLock { state in state.readAt.map { $0 + Self.memory > .now } ?? false }
        if !isKnown {
            let now = ContinuousClock.now
            let applications = try await table.all()
            state.withLock { state in
                state.applications = applications
                state.readAt = now
            }
        }
        return state.withLock { state in
            guard !state.applications.isEmpty else { return [] }
            state.turn = (state.turn + 1) % state.applications.count
            return Array(state.applications[state.turn...] + state.applications[..<state.turn])
        }
    }
}
