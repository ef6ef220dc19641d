import CLibPQ

/// A connection slot, with everything that was sent and is not answered yet; only the reactor's thread uses it.
final class Connection {
    enum Role {
        case pipelined, leased
        case listening(Listener)
        case retired
    }

    /// The work that an answer of the server belongs to; entries are queued in the order in which they were sent.
    enum Entry {
        case setup
        case prepare(Request)
        case begin
        case work(Request)
        case script(Request)
        case listen(isLast: Bool)
        case probe(sentAt: Nanoseconds)
        /// A heartbeat for the given listening connection.
        case beat(of: Connection, Int)
        case sync
    }

    let slot: Int
    var role: Role

    var link: Link?
    /// Counts the attempts to connect, so that messages about an earlier attempt are ignored.
    var attempt = 0
    var isConnecting = false
    /// When the latest attempt to connect began.
    var attemptedAt = Nanoseconds.never
    /// Whether the session's settings have been applied.
    var isReady = false
    var wasReady = false
    var retryAt = Nanoseconds.never
    var backoff = Backoff()

    var inFlight = Queue<Entry>()
    var requestsInFlight = 0
    /// Whether reads have been sent without a sync after them.
    var hasOpenBatch = false
    var batchSize = 0
    var hasUnsentBytes = false
    /// The time of the server's last answer, or of the first request after an idle period.
    var lastProgress = Nanoseconds.never
    /// Whether another connection's server has stopped answering and this connection has received nothing since.
    var isSuspect = false
    /// The result of the first entry in flight, until libpq reports that the entry is complete.
    var answer: Answer?
    /// The write that succeeded and is committed by the next sync.
    var uncommitted: (request: Request, rows: Rows)?
    /// The server-side names of prepared statements, by a hash of the SQL and the parameter types.
    var prepared: [UInt64: String] = [:]
    private var renames = 0

    // Leased connections only.
    var lease: Lease?
    var hasBegun = false
    /// Whether COMMIT or ROLLBACK was answered; the next sync ends the lease.
    var isEnding = false
    var backlog = Queue<Request>()
    var interruptedSince: Nanoseconds?

    // Listening connections only.
    var nextBeat = Nanoseconds.never
    var heartbeats = Heartbeats()
    /// Whether it has been logged that heartbeats don't arrive.
    var isDeaf = false

    init(slot: Int, role: Role) { (self.slot, self.role) = (slot, role) }
    var isPipelined: Bool { if case .pipelined = role { true } else { false } }
    var isLeased: Bool { if case .leased = role { true } else { false } }
    var listener: Listener? { if case .listening(let listener) = role { listener } else { nil } }
    var runsScript: Bool { if case .script = inFlight.first { true } else { false } }

    /// All pending requests, sent or not.
    var requests: [Request] {
        (uncommitted.map { [$0.request] } ?? [])
            + inFlight.compactMap { entry in
                switch entry {
                case .work(let request), .script(let request): request
                case .setup, .prepare, .begin, .listen, .probe, .beat, .sync: nil
                }
            } + backlog
    }

    func hasInFlight(_ request: Request) -> Bool {
        inFlight.contains { entry in
            switch entry {
            case .work(let other), .script(let other): other === request
            case .setup, .prepare, .begin, .listen, .probe, .beat, .sync: false
            }
        }
    }

    /// When the oldest probe without an answer was sent.
    ///
    /// Only a connection that listens sends probes, so the queues of the others are not searched.
    var oldestProbe: Nanoseconds? {
        guard nextBeat < .never else { return nil }
        for case .probe(let sentAt) in inFlight { return sentAt }
        return nil
    }

    /// Whether the server has owed an answer, or a cancellation has been under way, for longer than `limit`.
    ///
    /// The limit does not apply to the answer to a script.
    func isSilent(for limit: Nanoseconds, at now: Nanoseconds) -> Bool {
        if let interruptedSince, now - interruptedSince > limit { return true }
        return !inFlight.isEmpty && !runsScript && now - lastProgress > limit
    }

    func reset() {
        link = nil
        isConnecting = false
        isReady = false
        inFlight = Queue()
        requestsInFlight = 0
        hasOpenBatch = false
        batchSize = 0
        hasUnsentBytes = false
        answer = nil
        uncommitted = nil
        prepared = [:]
        renames = 0
        lease = nil
        hasBegun = false
        isEnding = false
        interruptedSince = nil
        isSuspect = false
        nextBeat = .never
    }

    /// Forgets a prepared statement, which is prepared again under a new name, since the server can't have that from
    /// before.
    func forget(_ key: UInt64) { if prepared.removeValue(forKey: key) != nil { renames += 1 } }

    /// Derives the name from the statement, so that behind a pooler another session's statement of that name is the
    /// same one.
    func newName(for key: UInt64) -> String {
        let base = "g" + String(key, radix: 36)
        return renames == 0 ? base : "\(base)_\(renames)"
    }
}

/// The delay between attempts to connect, from 50 ms to 1 s, half of it random, so that servers don't reconnect
/// together.
struct Backoff {
    private static let first = Nanoseconds.milliseconds(50)
    private static let last = Nanoseconds.seconds(1)
    private var current = first

    mutating func reset() { current = Self.first }

    mutating func next() -> Nanoseconds {
        defer { current = min(current * 2, Self.last) }
        return Nanoseconds.random(in: (current / 2)...current)
    }
}
