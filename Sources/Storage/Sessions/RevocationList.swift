package import Accounts
package import Foundation
package import Postgres
internal import Synchronization

/// Tokens of a session that are refused.
struct SessionRevocation: Sendable, Equatable {
    let session: UUID
    let application: Application.ID
    /// Of earlier generations than this; of all where the session has ended.
    let before: Int32

    init(of session: UUID, application: Application.ID, before generation: Int32 = .max) {
        self.session = session
        self.application = application
        before = generation
    }
}

/// The sessions that ended or were renewed within one access token's life, in memory.
///
/// Notifications add to it. It is authoritative only while the replica channel is current and all that
/// happened before the channel's last connection has been loaded, and only of tokens that are no older than what it
/// holds; otherwise the session's row is queried.
package final class RevocationList: Revocations {
    private struct Key: Hashable {
        let application: Application.ID
        let session: UUID
    }

    private struct Entry {
        /// Tokens of earlier generations are refused.
        var before: Int32
        var notedAt: ContinuousClock.Instant
    }

    private struct State {
        var revoked: [Key: Entry] = [:]
        /// All that was revoked since then is here.
        var reachesBackTo = ContinuousClock.now
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

    /// `retention` returns the longest lifetime of an access token; older tokens need a query.
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
            case .outbox, .keys:
                break
            }
        }
    }

    /// Loads what was revoked before each connection of the channel, until cancelled.
    package func run() async {
        for await _ in connections {
            while !Task.isCancelled, await !load() {
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    package func isRevoked(_ token: AccessTokenClaims, at time: Date, application: Application.ID) async throws -> Bool
    {
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

    @Sendable func note(_ revocation: SessionRevocation) {
        let now = ContinuousClock.now
        let key = Key(application: revocation.application, session: revocation.session)
        state.withLock { state in
            // A load may have read the row before what was heard since.
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
            state.revoked[Key(application: application, session: session)] = nil
        }
    }

    /// A token may have been signed an instant after its session ended, and by a clock that is behind.
    private static let margin: Duration = .seconds(60)

    /// Those of erased accounts too, which have no row of their own any more.
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
        let connection = state.withLock { $0.connection }
        let reach = retention() + Self.margin
        let start = ContinuousClock.now
        guard let rows = try? await database.execute(Self.selectRevoked, [.interval(reach)]) else { return false }
        var loaded: Set<Key> = []
        for var row in rows {
            guard let application = try? row.next(Application.ID.self), let session = try? row.next(UUID.self),
                let generation = try? row.next(Int32.self)
            else { return false }
            note(SessionRevocation(of: session, application: application, before: generation))
            loaded.insert(Key(application: application, session: session))
        }
        state.withLock { state in
            let connectedAt = state.connectedAt
            state.revoked = state.revoked.filter { $0.value.notedAt >= connectedAt || loaded.contains($0.key) }
            state.reachesBackTo = start - reach
            state.loadedConnection = connection
        }
        return true
    }

    private static let selectSession = Statement(
        .read,
        """
        SELECT FROM sessions
         WHERE application_id = $1 AND id = $2 AND generation <= $3 AND ended_at IS NULL AND expires_at > now()
        """)

    private func isRevokedByRow(_ token: AccessTokenClaims, application: Application.ID) async throws -> Bool {
        try await translatingErrors {
            try await database.execute(
                Self.selectSession, [.application(application), .uuid(token.sessionID), .int4(token.generation)]
            ).isEmpty
        }
    }
}
