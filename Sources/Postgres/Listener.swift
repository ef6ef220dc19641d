import Synchronization

/// One channel's notifications, on a connection of its own which is probed all the time.
package final class Listener: Sendable {
    package enum Event: Sendable, Equatable {
        /// LISTEN was accepted.
        ///
        /// What was sent before is lost: reload whatever the notifications maintain.
        case connected
        case notification(String)
        case disconnected
    }

    static let probeInterval = Nanoseconds.milliseconds(250)
    static let probeTimeout = Nanoseconds.milliseconds(600)
    private static let freshness = Nanoseconds.milliseconds(700)

    package let channel: String
    let onEvent: @Sendable (Event) -> Void
    private let confirmed = Atomic<Nanoseconds>(-Listener.freshness)

    init(channel: String, onEvent: @escaping @Sendable (Event) -> Void) {
        self.channel = channel
        self.onEvent = onEvent
    }

    /// Whether every notification sent more than 700 ms ago has been given to `onEvent`.
    ///
    /// True from the moment `connected` has been handled: the owner itself knows whether its reload is complete.
    package var isCurrent: Bool {
        .now - confirmed.load(ordering: .acquiring) < Self.freshness
    }

    /// The server has answered a probe sent at `time`, and all that came before the answer was delivered.
    func confirm(sentAt time: Nanoseconds) {
        confirmed.store(time, ordering: .releasing)
    }

    func lose() {
        confirmed.store(-Self.freshness, ordering: .releasing)
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
