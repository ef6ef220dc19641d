import Synchronization

/// The exclusive use of one connection, from BEGIN to the end; a class, because leases are compared by identity.
final class Lease: Sendable {
    let slot: Int
    /// The statements that the reactor does not have yet.
    ///
    /// They are kept until the caller waits for an answer, so that the reactor sends them in one batch. If each woke
    /// the reactor, most would get a sync and a packet of their own.
    private let unsent = Mutex<[Request]>([])
    private let limit = Mutex(Duration.zero)

    init(slot: Int) { self.slot = slot }

    /// How long a statement of the transaction may take, if that is longer than configured.
    var statementLimit: Duration { limit.withLock { $0 } }

    func permit(_ limit: Duration) { self.limit.withLock { $0 = limit } }

    func add(_ request: Request) { unsent.withLock { $0.append(request) } }

    /// Passes the kept statements to the reactor, and then `last`.
    ///
    /// Returns whether it passed anything, whose answers take a round trip.
    @discardableResult
    func send(_ last: Request? = nil, to inbox: Inbox) -> Bool {
        // They are posted under the lock, so that statements of concurrent callers keep their order.
        let (requests, isPosted) = unsent.withLock { unsent in
            defer { unsent = [] }
            let requests = unsent + [last].compactMap(\.self)
            return (requests, inbox.post(requests.map(Message.submit)))
        }
        if !isPosted { requests.forEach { $0.promise.fail(.stopped) } }
        return !requests.isEmpty
    }

    /// Drops the kept statements, because the transaction is rolled back.
    func dropUnsent() {
        let dropped = unsent.withLock { unsent in
            defer { unsent = [] }
            return unsent
        }
        dropped.forEach { $0.promise.fail(.cancelled) }
    }
}
