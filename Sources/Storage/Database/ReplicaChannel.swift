internal import Accounts
internal import Foundation
package import OpenID
package import Postgres
internal import Synchronization

/// Notifies all replicas over LISTEN and NOTIFY of ended, renewed and revived sessions, of sign-ins that another device
/// answers, of new messages, of changed keys, of switched providers and of lifted rate limits.
///
/// The payload is `ended:APPLICATION:SESSION`, `renewed:APPLICATION:SESSION:GENERATION`, `revived:APPLICATION:SESSION`,
/// `handoff:APPLICATION:ID`, `outbox`, `keys`, `switches` or `limits`. Statements send it with `pg_notify`, so it is
/// delivered exactly when the change that it reports is committed; only `outbox` is sent later (`OutboxArrivals`).
package final class ReplicaChannel: Sendable {
    enum Event: Sendable, Equatable {
        /// The channel has connected; earlier notifications may have been missed.
        case connected
        case revoked(SessionRevocation)
        case revived(application: Application.ID, session: UUID)
        case handoff(application: Application.ID, id: UUID)
        case outbox
        case keys
        case switches
        case limits
    }

    static let switches = "switches"

    static let name = "gatehouse"

    private typealias Handler = @Sendable (Event) -> Void
    private let database: Database
    private let handlers = Mutex<[Handler]>([])
    private let listener = Mutex<Listener?>(nil)

    package init(database: Database) {
        self.database = database
    }

    /// Adds a handler, which must be quick because it runs on the reactor's thread.
    ///
    /// Call this before `start`.
    func onEvent(_ handler: @escaping @Sendable (Event) -> Void) {
        handlers.withLock { $0.append(handler) }
    }

    package func start() {
        let handlers = handlers.withLock { $0 }
        let listener = database.listen(to: Self.name) { event in
            guard let event = Event(event) else { return }
            for handler in handlers { handler(event) }
        }
        self.listener.withLock { $0 = listener }
    }

    package func stop() {
        if let listener = listener.withLock({ $0 }) { database.stopListening(listener) }
    }

    /// Whether every notification sent up to an instant ago has been handled.
    package var isCurrent: Bool {
        listener.withLock { $0 }?.isCurrent ?? false
    }

    /// Yields an element whenever a message may have been written to the outbox.
    package func outboxArrivals() -> AsyncStream<Void> {
        arrivals { $0 == .outbox || $0 == .connected }
    }

    /// Yields an element whenever signing keys may have changed.
    package func keyChanges() -> AsyncStream<Void> {
        arrivals { $0 == .keys || $0 == .connected }
    }

    /// Yields an element whenever providers may have been switched.
    package func switchChanges() -> AsyncStream<Void> {
        arrivals { $0 == .switches || $0 == .connected }
    }

    /// Yields an element whenever an administrator may have lifted rate limits.
    package func limitLifts() -> AsyncStream<Void> {
        arrivals { $0 == .limits || $0 == .connected }
    }

    /// Wakes the pages that wait for other devices; all of them after notifications may have been missed.
    package func wake(_ waiters: HandoffWaiters) {
        onEvent { event in
            switch event {
            case .handoff(let application, let id): waiters.wake(id, application: application)
            case .connected: waiters.wakeAll()
            case .revoked, .revived, .outbox, .keys, .switches, .limits: break
            }
        }
    }

    static func payload(ofHandoff id: UUID, application: Application.ID) -> String {
        "handoff:\(application.rawValue):\(id.text)"
    }

    private func arrivals(where isMeant: @escaping @Sendable (Event) -> Bool) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        onEvent { if isMeant($0) { continuation.yield() } }
        return stream
    }
}

extension ReplicaChannel.Event {
    /// `nil` if the connection was lost, which `isCurrent` reports, or if the payload is unknown, as one from a newer
    /// version may be.
    init?(_ event: Listener.Event) {
        switch event {
        case .connected:
            self = .connected
        case .disconnected:
            return nil
        case .notification(let payload):
            let parts = payload.split(separator: ":", omittingEmptySubsequences: false)
            switch (parts.first, parts.count) {
            case ("outbox", 1): self = .outbox
            case ("keys", 1): self = .keys
            case ("switches", 1): self = .switches
            case ("limits", 1): self = .limits
            case ("ended", 3), ("renewed", 4), ("revived", 3), ("handoff", 3):
                guard let application = Int32(parts[1]).map(Application.ID.init(rawValue:)),
                    let session = UUID(uuidString: String(parts[2]))
                else {
                    return nil
                }
                if parts[0] == "handoff" {
                    self = .handoff(application: application, id: session)
                } else if parts[0] == "revived" {
                    self = .revived(application: application, session: session)
                } else if parts[0] == "ended" {
                    self = .revoked(SessionRevocation(of: session, application: application))
                } else if let generation = Int32(parts[3]) {
                    self = .revoked(SessionRevocation(of: session, application: application, before: generation))
                } else {
                    return nil
                }
            default: return nil
            }
        }
    }
}

extension SQLStore {
    private static let notify = Statement(
        .write, "SELECT pg_notify('gatehouse', payload) FROM unnest($1::text[]) AS payload")

    /// Notifies all replicas after a statement that can't do so itself, because it only updates or deletes rows.
    ///
    /// Citus sends all of such a statement to the node that stores the rows, and replicas don't listen there. A
    /// statement that also inserts rows notifies on the node that replicas are connected to.
    func notify(_ payloads: [String]) async throws {
        guard !payloads.isEmpty else { return }
        try await write(Self.notify, [.texts(payloads)])
    }
}
