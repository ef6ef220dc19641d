import CLibPQ
import Glibc
import Synchronization

enum Message: Sendable {
    case submit(Request)
    case lease(Waiter<Lease>)
    /// The caller of a statement in a transaction was cancelled; cancel the statement on the server.
    case interrupt(Request)
    case interrupted(slot: Int, attempt: Int)
    case connected(slot: Int, attempt: Int, Link)
    case refused(slot: Int, attempt: Int, reason: String)
    case whenReady(Waiter<Void>)
    case listen(Listener)
    case stopListening(Listener)
    case stop(Waiter<Void>)
}

/// The reactor's queue of messages, for which a sender writes to the eventfd only while the reactor sleeps.
final class Inbox: Sendable {
    private struct State {
        var messages: [Message] = []
        /// Unsent requests: `posted` counts those in `messages`, `parked` those that the reactor has taken.
        var posted = 0
        var parked = 0
        var readerSleeps = false
        var isClosed = false
        var roundTrips = 0
        /// See `Database.waits`.
        var waits = [Int](repeating: 0, count: 32)
        var statistics = Database.Statistics()
    }

    /// An eventfd that is readable if a message arrived while the reactor slept; negative if it can't be created.
    let wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    private let state = Mutex(State())

    deinit { if wakeUp >= 0 { Glibc.close(wakeUp) } }

    /// Adds a message; returns false and drops it if the inbox is closed.
    @discardableResult
    func post(_ message: Message) -> Bool { post([message]) }

    /// Adds messages that the reactor reads together; returns false and drops them if the inbox is closed.
    func post(_ messages: [Message]) -> Bool { push(messages, limit: nil) != .closed }

    /// Adds a message with new work, unless `limit` requests are already waiting.
    func admit(_ message: Message, limit: Int) throws(PostgresError) {
        switch push([message], limit: limit) {
        case .accepted: return
        case .full: throw .overloaded
        case .closed: throw .stopped
        }
    }

    private enum Admission { case accepted, full, closed }

    private func push(_ messages: [Message], limit: Int?) -> Admission {
        let (admission, mustWake) = state.withLock { state -> (Admission, Bool) in
            guard !state.isClosed else { return (.closed, false) }
            if let limit {
                guard state.parked + state.posted < limit else { return (.full, false) }
                state.posted += 1
            }
            guard !messages.isEmpty else { return (.accepted, false) }
            state.messages += messages
            defer { state.readerSleeps = false }
            return (.accepted, state.readerSleeps)
        }
        if mustWake { eventfd_write(wakeUp, 1) }
        return admission
    }

    func drain() -> [Message] {
        state.withLock { state in
            defer {
                // An upper bound until the reactor reports how many are unsent.
                state.parked += state.posted
                state.posted = 0
                state.messages = []
            }
            return state.messages
        }
    }

    /// Returns whether the reactor may sleep, which is the case only if no message has arrived.
    func maySleep(_ statistics: Database.Statistics) -> Bool {
        state.withLock { state in
            state.statistics = statistics
            state.parked = statistics.waiting
            state.readerSleeps = state.messages.isEmpty
            return state.readerSleeps
        }
    }

    func publish(_ statistics: Database.Statistics) { state.withLock { $0.statistics = statistics } }

    /// Notes that the reactor has woken up; `wasCalled` is true if the eventfd is readable.
    func awake(wasCalled: Bool) {
        var count: eventfd_t = 0
        if wasCalled { eventfd_read(wakeUp, &count) }
        state.withLock { $0.readerSleeps = false }
    }

    /// Closes the inbox to further messages and returns the unread ones.
    func close() -> [Message] {
        state.withLock { state in
            defer {
                state.messages = []
                state.isClosed = true
                state.statistics = Database.Statistics()
            }
            return state.messages
        }
    }

    /// Counts that a caller waits for an answer.
    func noteRoundTrip() { state.withLock { $0.roundTrips += 1 } }

    /// Counts an answer to a single statement by the time that its caller waited.
    func noteAnswer(after wait: Nanoseconds) {
        // 2 log₂(x) is an integer where one class ends and the next one begins
        let number = (2 * log2(Double(max(wait, 1)) / 100_000)).rounded(.down) + 1
        state.withLock { $0.waits[Int(number.clamped(to: 0...Double($0.waits.count - 1)))] += 1 }
    }

    var waits: [Int] { state.withLock { $0.waits } }

    var statistics: Database.Statistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.roundTrips = state.roundTrips
            return statistics
        }
    }
}

extension PostgresError {
    static let stopped = Self.unavailable("the client is stopped")
}
