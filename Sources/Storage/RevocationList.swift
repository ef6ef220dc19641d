internal import Accounts
package import Foundation
package import Postgres
internal import Synchronization

/// The sessions that ended within one access token's life, in memory.
///
/// Notifications add to it as they come. It speaks for itself only while the replica channel is current and all that
/// ended before the channel's last connection has been loaded; else the session's row is asked.
package final class RevocationList: Revocations {
    private struct Key: Hashable {
        let application: Int32
        let session: UUID
    }

    private struct State {
        /// When each was noted.
        var ended: [Key: ContinuousClock.Instant] = [:]
        /// When the channel connected last: what was noted before may have come back unheard.
        var connectedAt = ContinuousClock.now
        /// Grows with each connection; a load is good only for the connection that it was begun for.
        var connection = 0
        var loadedConnection = 0
        var pruneAt = 1024
    }

    private let database: Database
    private let channel: ReplicaChannel
    private let retention: @Sendable () -> Duration
    private let state = Mutex(State())
    private let connections: AsyncStream<Void>

    /// `retention` tells the longest life of an access token at the time of asking.
    package init(database: Database, channel: ReplicaChannel, retention: @escaping @Sendable () -> Duration) {
        self.database = database
        self.channel = channel
        self.retention = retention
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        connections = stream
        channel.onEvent { [weak self] event in
            switch event {
            case .connected:
                self?.state.withLock { state in
                    state.connection += 1
                    state.connectedAt = .now
                }
                continuation.yield()
            case .ended(let application, let session):
                self?.note([session], application: application)
            case .revived(let application, let session):
                self?.forget(session, application: application)
            case .outbox, .keys:
                break
            }
        }
    }

    /// Loads what ended before each connection of the channel, until cancelled.
    package func run() async {
        for await _ in connections {
            while !Task.isCancelled, await !load() {
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    package func isEnded(session: UUID, application: Int32) async throws -> Bool {
        let isCurrent = channel.isCurrent
        let (isNoted, isLoaded) = state.withLock { state in
            (
                state.ended[Key(application: application, session: session)] != nil,
                state.connection > 0 && state.connection == state.loadedConnection
            )
        }
        if isNoted { return true }
        if isCurrent && isLoaded { return false }
        return try await isEndedByRow(session: session, application: application)
    }

    func note(_ sessions: [UUID], application: Int32) {
        guard !sessions.isEmpty else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            for session in sessions {
                state.ended[Key(application: application, session: session)] = now
            }
            guard state.ended.count >= state.pruneAt else { return }
            let oldest = now - retention() - Self.margin
            state.ended = state.ended.filter { $0.value > oldest }
            state.pruneAt = max(1024, state.ended.count * 2)
        }
    }

    private func forget(_ session: UUID, application: Int32) {
        state.withLock { state in
            state.ended[Key(application: application, session: session)] = nil
        }
    }

    /// A token may have been signed an instant after its session ended.
    private static let margin: Duration = .seconds(60)

    /// Those of erased accounts too, which have no row of their own any more.
    private static let selectEnded = Statement(
        .read,
        """
        SELECT application_id, id FROM sessions WHERE ended_at > now() - $1::interval
        UNION ALL
        SELECT application_id, id FROM ended_sessions WHERE forget_after > now()
        """)

    private func load() async -> Bool {
        let connection = state.withLock { $0.connection }
        guard let rows = try? await database.execute(Self.selectEnded, [.interval(retention() + Self.margin)]) else {
            return false
        }
        var loaded: Set<Key> = []
        for row in rows {
            var row = row
            guard let application = try? row.next(Int32.self), let session = try? row.next(UUID.self) else {
                return false
            }
            note([session], application: application)
            loaded.insert(Key(application: application, session: session))
        }
        state.withLock { state in
            let connectedAt = state.connectedAt
            state.ended = state.ended.filter { $0.value >= connectedAt || loaded.contains($0.key) }
            state.loadedConnection = connection
        }
        return true
    }

    private static let selectSession = Statement(
        .read,
        """
        SELECT FROM sessions WHERE application_id = $1 AND id = $2 AND ended_at IS NULL AND expires_at > now()
        """)

    private func isEndedByRow(session: UUID, application: Int32) async throws -> Bool {
        try await translatingErrors {
            try await database.execute(Self.selectSession, [.int4(application), .uuid(session)]).isEmpty
        }
    }
}
