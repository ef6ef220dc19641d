import CLibPQ

/// One connection's place and everything sent through it that is not answered yet.
///
/// Belongs to the reactor's thread.
final class Connection {
    enum Role {
        case pipelined
        case leased
        case listening(Listener)
        case retired
    }

    /// What the server's next answers are for, in the order sent.
    enum Entry {
        case setup
        case prepare(Request)
        case begin
        case work(Request)
        case script(Request)
        case listen(isLast: Bool)
        case probe(sentAt: Nanoseconds)
        /// A heartbeat for that listening connection.
        case beat(of: Connection, Int)
        case sync
    }

    let slot: Int
    var role: Role

    var link: Link?
    /// Counts connects, so that news of an earlier one is recognised.
    var attempt = 0
    var isConnecting = false
    /// When the latest attempt to connect began.
    var attemptedAt = Nanoseconds.never
    /// The session's settings are in force.
    var isReady = false
    var wasReady = false
    var retryAt = Nanoseconds.never
    var backoff = Backoff()

    var inFlight = Queue<Entry>()
    var requestsInFlight = 0
    /// Reads have been sent that no sync follows yet.
    var hasOpenBatch = false
    var batchSize = 0
    var hasUnsentBytes = false
    /// The time of the server's last answer, or of the first request after an idle period.
    var lastProgress = Nanoseconds.never
    /// Another connection's server has stopped answering, and this one has said nothing since.
    var isSuspect = false
    /// The head entry's result, until libpq says that the entry is complete.
    var answer: Answer?
    /// Server-side names of prepared statements, by SQL and parameter types.
    var prepared: [UInt64: String] = [:]
    private var renames = 0

    // Leased connections only.
    var lease: Lease?
    var hasBegun = false
    /// COMMIT or ROLLBACK was answered; the next sync ends the lease.
    var isEnding = false
    var backlog = Queue<Request>()
    var interruptedSince: Nanoseconds?

    // Listening connections only.
    var nextBeat = Nanoseconds.never
    var heartbeats = Heartbeats()
    /// Heartbeats do not arrive, which is logged once.
    var isDeaf = false

    init(slot: Int, role: Role) {
        self.slot = slot
        self.role = role
    }

    var isPipelined: Bool { if case .pipelined = role { true } else { false } }
    var isLeased: Bool { if case .leased = role { true } else { false } }
    var listener: Listener? { if case .listening(let listener) = role { listener } else { nil } }

    var runsScript: Bool { if case .script = inFlight.first { true } else { false } }

    /// All pending requests, sent or not.
    var requests: [Request] {
        inFlight.compactMap { entry in
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

    var oldestProbe: Nanoseconds? {
        for case .probe(let sentAt) in inFlight { return sentAt }
        return nil
    }

    /// When a heartbeat is due, or a probe is given up.
    var nextListeningTimer: Nanoseconds {
        min(nextBeat, oldestProbe.map { $0 + Listener.probeTimeout } ?? .never)
    }

    /// Whether the server owes an answer, or the delivery of a cancellation, for longer than `limit`.
    ///
    /// A script has no limit.
    func isSilent(for limit: Nanoseconds, at now: Nanoseconds) -> Bool {
        if let interruptedSince, now - interruptedSince > limit { return true }
        return !inFlight.isEmpty && !runsScript && now - lastProgress > limit
    }

    /// Closes the connection and discards its state.
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
        prepared = [:]
        renames = 0
        lease = nil
        hasBegun = false
        isEnding = false
        interruptedSince = nil
        isSuspect = false
        nextBeat = .never
    }

    /// The next name for a statement which the server will not have under the old one.
    func forget(_ key: UInt64) {
        if prepared.removeValue(forKey: key) != nil { renames += 1 }
    }

    /// Derived from the statement: another session's statement of that name behind a connection pooler is the same.
    func newName(for key: UInt64) -> String {
        let base = "g" + String(key, radix: 36)
        return renames == 0 ? base : "\(base)_\(renames)"
    }
}

/// 50 ms doubling to 1 s, the second half of each at random, so that servers do not return in step.
struct Backoff {
    private static let first = Nanoseconds.milliseconds(50)
    private static let last = Nanoseconds.seconds(1)
    private var current = first

    mutating func reset() {
        current = Self.first
    }

    mutating func next() -> Nanoseconds {
        defer { current = min(current * 2, Self.last) }
        return Nanoseconds.random(in: (current / 2)...current)
    }
}
