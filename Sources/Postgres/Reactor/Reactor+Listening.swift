import CLibPQ
import Logging

extension Reactor {
    func listen(_ listener: Listener) {
        let connection = Connection(slot: connections.count, role: .listening(listener))
        connections.append(connection)
        connect(connection)
    }

    func stopListening(_ listener: Listener) {
        guard let connection = connections.first(where: { $0.listener === listener }) else { return }
        lose(connection, nil)
        connection.role = .retired
        connection.retryAt = .never
    }

    /// Listens to the channel of the heartbeats first, so that the answer for the other channel confirms both.
    func sendListen(_ connection: Connection, _ listener: Listener) {
        guard send("LISTEN " + listener.beatChannel, as: .listen(isLast: false), on: connection),
            let link = connection.link,
            let channel = PQescapeIdentifier(link.raw, listener.channel, listener.channel.utf8.count)
        else { return lose(connection, connection.link?.complaint) }
        defer { PQfreemem(channel) }
        guard send("LISTEN " + String(cString: channel), as: .listen(isLast: true), on: connection) else {
            return lose(connection, link.complaint)
        }
    }

    func didListen(_ connection: Connection) {
        connection.heartbeats.restart()
        connection.nextBeat = now
        connection.listener?.onEvent(.connected)
    }

    func didStopListening(_ connection: Connection) {
        connection.listener?.lose()
        connection.listener?.onEvent(.disconnected)
    }

    /// Passes notifications to the listener and counts heartbeats; `wasAsked` means that the server owed an answer.
    func deliverNotifications(_ connection: Connection, _ link: Link, wasAsked: Bool) {
        guard let listener = connection.listener else { return }
        while let notification = PQnotifies(link.raw) {
            defer { PQfreemem(notification) }
            let payload = String(cString: notification.pointee.extra)
            if String(cString: notification.pointee.relname) == listener.beatChannel {
                hear(payload, on: connection, listener, wasAsked: wasAsked)
            } else {
                listener.onEvent(.notification(payload))
            }
        }
    }

    /// Counts a heartbeat only if it arrived while no statement was in progress.
    ///
    /// A pooler in transaction mode forwards notifications only during a statement, so a heartbeat that arrives then
    /// proves nothing.
    private func hear(_ payload: String, on connection: Connection, _ listener: Listener, wasAsked: Bool) {
        guard let number = Int(payload), let sentAt = connection.heartbeats.hear(number), !wasAsked else { return }
        if connection.heartbeats.hasMissed {
            connection.heartbeats.hasMissed = false
            // Sent before `isCurrent` becomes true, so that the owner reloads first.
            listener.onEvent(.connected)
        }
        if connection.isDeaf {
            connection.isDeaf = false
            logger.notice("notifications arrive again")
        }
        listener.confirm(sentAt: sentAt)
    }

    func didAnswerProbe(_ connection: Connection, sentAt: Nanoseconds) {
        guard connection.heartbeats.areLost(byProbeSentAt: sentAt) else { return }
        connection.listener?.lose()
        guard !connection.isDeaf else { return }
        connection.isDeaf = true
        logger.warning("notifications do not arrive (pooler in transaction mode?); reading session rows instead")
    }

    var probeTimeout: Nanoseconds { Nanoseconds(configuration.probeTimeout) }

    /// When the next heartbeat is due or the oldest probe times out.
    func nextListeningTimer(of connection: Connection) -> Nanoseconds {
        min(connection.nextBeat, connection.oldestProbe.map { $0 + probeTimeout } ?? .never)
    }

    /// Sends a heartbeat, and a probe if an earlier one did not arrive, since a half-open TCP connection reports no
    /// error.
    func beat(_ connection: Connection) {
        if let sentAt = connection.oldestProbe, now - sentAt >= probeTimeout {
            lose(connection, "no answer to a probe")
            return suspectAll()
        }
        guard connection.nextBeat <= now, let listener = connection.listener else { return }
        connection.nextBeat = now + Listener.beatInterval
        let areHeard = connection.heartbeats.areHeard
        let isSent = sendBeat(of: connection, listener)
        guard !isSent || !areHeard, connection.oldestProbe == nil else { return }
        if !send("SELECT 1", as: .probe(sentAt: now), on: connection) { lose(connection, connection.link?.complaint) }
    }

    /// Sends a heartbeat without waiting for its commit to reach the disk, since losing a heartbeat in a crash does no
    /// harm.
    private func sendBeat(of connection: Connection, _ listener: Listener) -> Bool {
        guard let sender = leastBusy() else { return false }
        let number = connection.heartbeats.send(at: now)
        let sql = """
            SELECT set_config('synchronous_commit', 'off', true), pg_notify('\(listener.beatChannel)', '\(number)')
            """
        guard send(sql, as: .beat(of: connection, number), on: sender) else {
            lose(sender, sender.link?.complaint)
            return false
        }
        return true
    }

    /// Sends a statement under its own sync.
    private func send(_ sql: String, as entry: Connection.Entry, on connection: Connection) -> Bool {
        (!connection.hasOpenBatch || connection.sync()) && connection.sendCommand(sql, as: entry) && connection.sync()
    }

    /// Checks all other connections after the server of the listening connection has stopped answering.
    ///
    /// Idle connections reconnect at once, before a caller needs them; the others, also those of a transaction between
    /// two statements, get as much time as the probe had.
    private func suspectAll() {
        for connection in connections where connection.link != nil && !connection.runsScript {
            if connection.inFlight.isEmpty, connection.lease == nil {
                lose(connection, "another connection's server does not answer")
            } else {
                connection.isSuspect = true
            }
        }
        nextSweep = now
    }
}
