package import Accounts
package import Foundation
package import Postgres
internal import Synchronization

/// The access tokens of a session that are no longer accepted.
struct SessionRevocation: Sendable, Equatable {
    let session: UUID
    let application: Application.ID
    /// The first generation that is still accepted; the largest number if the session has ended.
    let before: Int32

    init(of session: UUID, application: Application.ID, before generation: Int32 = .max) {
        self.session = session
        self.application = application
        before = generation
    }
}

/// Keeps in memory the sessions that ended or were renewed within the lifetime of an access token.
///
/// Notifications add entries. A token that matches an entry is refused. Without a matching entry, a token is accepted
/// only if the replica channel is current, the revocations before the channel's last connection have been loaded, and
/// the token is not older than the period that the list covers. Otherwise, the session's row is queried.
package final class RevocationList: Revocations {
    private struct Key: Hashable {
        let application: Application.ID
        let session: UUID
    }

    private struct Entry {
        /// Tokens of generations before this one are refused.
        var before: Int32
        var notedAt: ContinuousClock.Instant
    }

    private struct State {
        var revoked: [Key: Entry] = [:]
        /// The list has every revocation since this time.
        var reachesBackTo = ContinuousClock.now
        /// When the channel last connected.
        ///
        /// A load removes entries noted before that time which it doesn't find, because the notification that such a
        /// session was revived may have been missed.
        var connectedAt = ContinuousClock.now
        /// Counts the connections of the channel; a load is valid only for the connection during which it started.
        var connection = 0
        var loadedConnection = 0
        /// The sessions that were revived since the load began that is under way, and may have read their rows before.
        var revived: Set<Key>?
        var pruneAt = 1024
    }

    private let database: Database
    private let channel: ReplicaChannel
    private let retention: @Sendable () -> Duration
    private let state = Mutex(State())
    private let connections: AsyncStream<Void>

    /// Creates an empty list, which `run` loads.
    ///
    /// `retention` returns the longest lifetime of an access token; the rows of sessions are queried for older tokens.
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
            case .revoked(let revocation):
                self?.note(revocation)
            case .revived(let application, let session):
                self?.forget(session, application: application)
            case .handoff, .outbox, .keys, .switches, .limits:
                break
            }
        }
    }

    /// Loads earlier revocations after each connection of the channel, until the task is cancelled.
    package func run() async {
        for await _ in connections {
            while !Task.isCancelled, await !load() {
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    package func isRevoked(_ token: SessionToken, at time: Date, application: Application.ID) async throws -> Bool {
        let isCurrent = channel.isCurrent
        let issued = ContinuousClock.now - .seconds(time.timeIntervalSince1970 - Double(token.issuedAt))
        let (isNoted, isComplete) = state.withLock { state in
            let entry = state.revoked[Key(application: application, session: token.sessionID)]
            return (
                entry.map { $0.before > token.generation } ?? false,
                state.connection > 0 && state.connection == state.loadedConnection
                    && state.reachesBackTo + Self.margin <= issued
            )
        }
        if isNoted { return true }
        if isCurrent && isComplete { return false }
        return try await isRevokedByRow(token, application: application)
    }

    @Sendable func note(_ revocation: SessionRevocation, unlessRevived: Bool = false) {
        let now = ContinuousClock.now
        let key = Key(application: revocation.application, session: revocation.session)
        state.withLock { state in
            if unlessRevived, state.revived?.contains(key) == true { return }
            // Keeps the later generation, because a load may have read the row before a newer notification arrived.
            let before = max(revocation.before, state.revoked[key]?.before ?? 0)
            state.revoked[key] = Entry(before: before, notedAt: now)
            guard state.revoked.count >= state.pruneAt else { return }
            let oldest = now - retention() - Self.margin
            state.revoked = state.revoked.filter { $0.value.notedAt > oldest }
            state.reachesBackTo = max(state.reachesBackTo, oldest)
            state.pruneAt = max(1024, state.revoked.count * 2)
        }
    }

    private func forget(_ session: UUID, application: Application.ID) {
        state.withLock { state in
            let key = Key(application: application, session: session)
            state.revoked[key] = nil
            state.revived?.insert(key)
        }
    }

    /// A token may have been signed just after its session ended, or by a replica whose clock is slow.
    private static let margin: Duration = .seconds(60)

    /// Selects the recent revocations.
    ///
    /// `ended_sessions` has those of erased accounts, whose rows in `sessions` are deleted.
    private static let selectRevoked = Statement(
        .read,
        """
        SELECT application_id, id, 2147483647 FROM sessions WHERE ended_at > now() - $1::interval
        UNION ALL
        SELECT application_id, id, generation FROM sessions WHERE renewed_at > now() - $1::interval AND ended_at IS NULL
        UNION ALL
        SELECT application_id, id, 2147483647 FROM ended_sessions WHERE forget_after > now()
        """)

    private func load() async -> Bool {
        let connection = state.withLock { state in
            state.revived = []
            return state.connection
        }
        let reach = retention() + Self.margin
        let start = ContinuousClock.now
        guard let rows = try? await database.execute(Self.selectRevoked, [.interval(reach)]) else { return false }
        var loaded: Set<Key> = []
        for var row in rows {
            guard let application = try? row.next(Application.ID.self), let session = try? row.next(UUID.self),
                let generation = try? row.next(Int32.self)
            else { return false }
            note(SessionRevocation(of: session, application: application, before: generation), unlessRevived: true)
            loaded.insert(Key(application: application, session: session))
        }
        state.withLock { state in
            let connectedAt = state.connectedAt
            state.revoked = state.revoked.filter { $0.value.notedAt >= connectedAt || loaded.contains($0.key) }
            state.reachesBackTo = start - reach
            state.loadedConnection = connection
            state.revived = nil
        }
        return true
    }

    private static let selectSession = Statement(
        .read,
        """
        SELECT 1 FROM sessions
         WHERE application_id = $1 AND id = $2 AND generation <= $3 AND ended_at IS NULL AND expires_at > now()
        """)

    private func isRevokedByRow(_ token: SessionToken, application: Application.ID) async throws -> Bool {
        try await database.run(
            Self.selectSession, [.application(application), .uuid(token.sessionID), .int4(token.generation)]
        ).isEmpty
    }
}
