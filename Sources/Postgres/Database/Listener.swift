import Synchronization

/// Receives the notifications of one channel on its own connection.
///
/// A connection that answers doesn't prove that notifications arrive: a pooler in transaction mode answers every
/// statement and drops the notifications. Another connection therefore sends heartbeats on a channel of this listener,
/// and only a heartbeat that arrives proves it.
package final class Listener: Sendable {
    package enum Event: Sendable, Equatable {
        /// LISTEN was accepted, or heartbeats arrive again: reload the state, because notifications may have been lost.
        case connected
        case notification(String)
        case disconnected
    }

    static let beatInterval = Nanoseconds.milliseconds(250)
    private static let freshness = Nanoseconds.milliseconds(700)

    package let channel: String
    let beatChannel = "beat_" + String(UInt64.random(in: .min ... .max), radix: 36)
    let onEvent: @Sendable (Event) -> Void
    private let confirmed = Atomic<Nanoseconds>(-Listener.freshness)

    init(channel: String, onEvent: @escaping @Sendable (Event) -> Void) {
        (self.channel, self.onEvent) = (channel, onEvent)
    }

    /// Whether every notification sent more than 700 ms ago has been passed to `onEvent`.
    ///
    /// False until the first heartbeat after `connected`. It does not cover the reload that follows `connected`, which
    /// the owner must track.
    package var isCurrent: Bool { .now - confirmed.load(ordering: .acquiring) < Self.freshness }

    /// Records that a heartbeat sent at `time` arrived, and therefore every notification before it.
    func confirm(sentAt time: Nanoseconds) { confirmed.store(time, ordering: .releasing) }
    func lose() { confirmed.store(-Self.freshness, ordering: .releasing) }
}

/// The heartbeats of one listening connection.
struct Heartbeats {
    private struct Beat {
        let number: Int
        let sentAt: Nanoseconds
        var acknowledgedAt = Nanoseconds.never
    }

    /// The heartbeats that have not arrived, oldest first.
    private var unheard: [Beat] = []
    private var lastNumber = 0
    /// Whether a heartbeat was missed, and therefore notifications may have been missed too.
    var hasMissed = false

    var areHeard: Bool { unheard.isEmpty }

    mutating func send(at time: Nanoseconds) -> Int {
        lastNumber += 1
        unheard.append(Beat(number: lastNumber, sentAt: time))
        return lastNumber
    }

    /// Records that the heartbeat's statement was committed at `time`, or failed if `time` is nil.
    mutating func settle(_ number: Int, at time: Nanoseconds?) {
        guard let index = unheard.firstIndex(where: { $0.number == number }) else { return }
        if let time { unheard[index].acknowledgedAt = time } else { unheard.remove(at: index) }
    }

    /// - Returns: when the heartbeat was sent; nil if it is not expected.
    mutating func hear(_ number: Int) -> Nanoseconds? {
        guard let index = unheard.firstIndex(where: { $0.number == number }) else { return nil }
        defer { unheard.removeFirst(index + 1) }
        if index > 0 { hasMissed = true }
        return unheard[index].sentAt
    }

    /// Whether a heartbeat is lost: it was committed before the probe was sent, but the probe's answer arrived first.
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
    /// Listens on a channel; `onEvent` runs on the reactor's thread, in the order of events, and must not block.
    package func listen(to channel: String, onEvent: @escaping @Sendable (Listener.Event) -> Void) -> Listener {
        let listener = Listener(channel: channel, onEvent: onEvent)
        inbox.post(.listen(listener))
        return listener
    }

    package func stopListening(_ listener: Listener) { inbox.post(.stopListening(listener)) }
}
