import CLibPQ
import Glibc
import Synchronization

/// A message to the reactor.
enum Message: Sendable {
    case submit(Request)
    case lease(Waiter<Lease>)
    /// The caller of a transaction's statement has gone: stop it on the server.
    case interrupt(Request)
    case interrupted(slot: Int, attempt: Int)
    case connected(slot: Int, attempt: Int, Link)
    case refused(slot: Int, attempt: Int, reason: String)
    case whenReady(Waiter<Void>)
    case listen(Listener)
    case stopListening(Listener)
    case stop(Waiter<Void>)
}

/// The reactor's queue of messages.
///
/// The eventfd is written only when the reactor sleeps.
final class Inbox: Sendable {
    private struct State {
        var messages: [Message] = []
        /// Requests for work, not sent yet: among the messages, and with the reactor.
        var posted = 0
        var parked = 0
        var readerSleeps = false
        var isClosed = false
        var statistics = Database.Statistics()
    }

    /// Readable while there is something to do for a sleeping reactor.
    let wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    private let state = Mutex(State())

    deinit {
        Glibc.close(wakeUp)
    }

    /// False once the reactor has gone; the message is dropped.
    @discardableResult
    func post(_ message: Message) -> Bool {
        push(message, limit: nil) != .closed
    }

    /// Posts a message that asks for new work, unless `limit` pieces of work wait already.
    func admit(_ message: Message, limit: Int) throws(PostgresError) {
        switch push(message, limit: limit) {
        case .accepted: return
        case .full: throw .overloaded
        case .closed: throw .stopped
        }
    }

    private enum Admission { case accepted, full, closed }

    private func push(_ message: Message, limit: Int?) -> Admission {
        let (admission, mustWake) = state.withLock { state -> (Admission, Bool) in
            guard !state.isClosed else { return (.closed, false) }
            if let limit {
                guard state.parked + state.posted < limit else { return (.full, false) }
                state.posted += 1
            }
            state.messages.append(message)
            defer { state.readerSleeps = false }
            return (.accepted, state.readerSleeps)
        }
        if mustWake { eventfd_write(wakeUp, 1) }
        return admission
    }

    func drain() -> [Message] {
        state.withLock { state in
            defer {
                // an upper bound until the reactor has looked at them
                state.parked += state.posted
                state.posted = 0
                state.messages = []
            }
            return state.messages
        }
    }

    /// Records how many requests wait unsent; returns whether the reactor may sleep: only if no message has arrived.
    func maySleep(_ statistics: Database.Statistics) -> Bool {
        state.withLock { state in
            state.statistics = statistics
            state.parked = statistics.waiting
            state.readerSleeps = state.messages.isEmpty
            return state.readerSleeps
        }
    }

    func publish(_ statistics: Database.Statistics) {
        state.withLock { $0.statistics = statistics }
    }

    /// Called by the reactor whenever it wakes; `wasCalled` if the eventfd is readable.
    func awake(wasCalled: Bool) {
        var count: eventfd_t = 0
        if wasCalled { eventfd_read(wakeUp, &count) }
        state.withLock { $0.readerSleeps = false }
    }

    /// Refuses everything from now on; returns what had not been read.
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

    var statistics: Database.Statistics {
        state.withLock { $0.statistics }
    }
}

extension PostgresError {
    static let stopped = Self.unavailable("the client is stopped")
}
