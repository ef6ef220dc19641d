import Synchronization

/// One channel's notifications, on a connection of its own.
///
/// That connection being alive proves nothing: a pooler in transaction mode answers every statement and drops the
/// notifications. So another connection sends a heartbeat all the time, on a channel of this listener's own, and only
/// hearing it counts.
package final class Listener: Sendable {
    package enum Event: Sendable, Equatable {
        /// LISTEN was accepted, or a heartbeat was missed.
        ///
        /// Earlier notifications may be lost: reload the state that they maintain.
        case connected
        case notification(String)
        case disconnected
    }

    static let beatInterval = Nanoseconds.milliseconds(250)
    static let probeTimeout = Nanoseconds.milliseconds(600)
    private static let freshness = Nanoseconds.milliseconds(700)

    package let channel: String
    let beatChannel = "beat_" + String(UInt64.random(in: .min ... .max), radix: 36)
    let onEvent: @Sendable (Event) -> Void
    private let confirmed = Atomic<Nanoseconds>(-Listener.freshness)

    init(channel: String, onEvent: @escaping @Sendable (Event) -> Void) {
        self.channel = channel
        self.onEvent = onEvent
    }

    /// Whether every notification sent more than 700 ms ago has been given to `onEvent`.
    ///
    /// False until the first heartbeat after `connected`: the owner itself knows whether its reload is complete.
    package var isCurrent: Bool {
        .now - confirmed.load(ordering: .acquiring) < Self.freshness
    }

    /// A heartbeat sent at `time` was heard, and all that came before it was delivered.
    func confirm(sentAt time: Nanoseconds) {
        confirmed.store(time, ordering: .releasing)
    }

    func lose() {
        confirmed.store(-Self.freshness, ordering: .releasing)
    }
}

/// The heartbeats of one listening connection.
struct Heartbeats {
    private struct Beat {
        let number: Int
        let sentAt: Nanoseconds
        var acknowledgedAt = Nanoseconds.never
    }

    /// The oldest first.
    private var unheard: [Beat] = []
    private var lastNumber = 0
    /// A heartbeat was missed, so notifications may be missing too.
    var hasMissed = false

    var areHeard: Bool { unheard.isEmpty }

    /// - Returns: the new heartbeat's number.
    mutating func send(at time: Nanoseconds) -> Int {
        lastNumber += 1
        unheard.append(Beat(number: lastNumber, sentAt: time))
        return lastNumber
    }

    /// Its statement was committed, or has failed.
    mutating func settle(_ number: Int, at time: Nanoseconds?) {
        guard let index = unheard.firstIndex(where: { $0.number == number }) else { return }
        if let time { unheard[index].acknowledgedAt = time } else { unheard.remove(at: index) }
    }

    /// - Returns: when it was sent; nil for one that is not waited for.
    mutating func hear(_ number: Int) -> Nanoseconds? {
        guard let index = unheard.firstIndex(where: { $0.number == number }) else { return nil }
        defer { unheard.removeFirst(index + 1) }
        if index > 0 { hasMissed = true }
        return unheard[index].sentAt
    }

    /// Whether a heartbeat committed before the probe had not arrived when the probe was answered: it is lost then.
    mutating func areLost(byProbeSentAt time: Nanoseconds) -> Bool {
        guard unheard.contains(where: { $0.acknowledgedAt <= time }) else { return false }
        unheard = []
        hasMissed = true
        return true
    }

    mutating func restart() {
        unheard = []
        hasMissed = false
    }
}

extension Database {
    /// Listens until `stopListening` or `stop`.
    ///
    /// `onEvent` runs on the reactor's thread, in order: it must be quick and must not wait.
    package func listen(to channel: String, onEvent: @escaping @Sendable (Listener.Event) -> Void) -> Listener {
        let listener = Listener(channel: channel, onEvent: onEvent)
        inbox.post(.listen(listener))
        return listener
    }

    package func stopListening(_ listener: Listener) {
        inbox.post(.stopListening(listener))
    }
}
